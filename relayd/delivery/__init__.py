"""Getting events out: one courier for each queue selects, sends, applies what was acknowledged and backs off.

`dispatch.Dispatcher` is what the rest of the daemon uses; `courier` works by itself, `flush` on request, `sender` is the seam
below both.
"""
