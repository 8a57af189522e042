"""How sure a figure is: seeded resampling of whole clusters, intervals, paired bounds.

No BLAS: a sum's last bits must not depend on the number of threads.
"""
