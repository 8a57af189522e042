"""What the checks of one fixture know of its spaces and items while they go through it."""

from __future__ import annotations

from dataclasses import dataclass, field

from tiepoint.core.contract import Role
from tiepoint.formats.fixture_json.spec import ContractEntry, ItemEntry


@dataclass(slots=True)
class Space:
    """What is known of a space.

    entry      its contract; None: of a wrong shape
    roles      how it calls its roles; None: cannot be told
    held       roles of which it has an item
    doubtful   it has an item whose role cannot be told
    """

    entry: ContractEntry | None
    roles: dict[str, Role] | None
    held: set[Role] = field(default_factory=set)
    doubtful: bool = False


@dataclass(slots=True)
class Known:
    """What was read so far.

    items                    by space and id: the item's role, None where it cannot be told, and the item, None of a wrong shape
    some_space_unreadable    a contract without a name, or none at all: no space can be called unknown
    some_item_unreadable     an item without a name, or none at all: no item can be called missing
    """

    spaces: dict[str, Space] = field(default_factory=dict)
    some_space_unreadable: bool = False
    items: dict[tuple[str, str], tuple[Role | None, ItemEntry | None]] = field(default_factory=dict)
    some_item_unreadable: bool = False
