"""Names of regions: which lie under which, and under which other names they go."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, eq=False)
class Regions:
    """The regions of a study.

    parents   a region's parent, where it has one; no circles (the constructor's caller checks with `circle`)
    aliases   another spelling to the name it stands for
    names     every known name: declared ones and those that documents carry
    """

    names: frozenset[str]
    parents: Mapping[str, str] = field(default_factory=dict)
    aliases: Mapping[str, str] = field(default_factory=dict)

    def canonical(self, name: str) -> str | None:
        """The name that this spelling stands for; None where the study knows no such region."""
        name = self.aliases.get(name, name)
        return name if name in self.names else None

    def under(self, names: Iterable[str]) -> frozenset[str]:
        """Every region that is, or lies under, any of these canonical names."""
        wanted = set(names)
        return frozenset(name for name in self.names | wanted if wanted.intersection(self.lineage(name)))

    def lineage(self, name: str) -> list[str]:
        """The region itself, its parent, and so on upward; ends at a circle."""
        line = [name]
        while (above := self.parents.get(line[-1])) is not None and above not in line:
            line.append(above)
        return line

    def circle(self) -> list[str]:
        """Regions whose line of parents comes back to themselves, sorted; empty when all is well."""
        found = []
        for name in self.parents:
            line = self.lineage(name)
            if self.parents.get(line[-1]) is not None:
                found.append(name)
        return sorted(found)
