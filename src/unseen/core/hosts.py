"""Whether an address is of this machine alone: what is said to it leaves it nowhere."""

from __future__ import annotations

import ipaddress


def loopback(host: str) -> bool:
    """Tell whether an address is of this machine alone.

    >>> loopback("127.0.0.1"), loopback("localhost"), loopback("0.0.0.0"), loopback("example.org")
    (True, True, False, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
