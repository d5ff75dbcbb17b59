"""The client of a Parley hub, with nothing but the standard library."""

from .client import Cancelled, Client, ParleyError

__all__ = ["Cancelled", "Client", "ParleyError"]
