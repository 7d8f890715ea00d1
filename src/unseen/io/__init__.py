"""From files and from objects of other libraries to `Graph`, `Classes` and `Labels`."""
