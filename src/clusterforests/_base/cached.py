"""Attributes that are computed when they are first asked for."""

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")


class cached(Generic[T]):
    """`functools.cached_property` without the lock that this has in Python 3.11.

    Held during the computation, and the same for all instances, it makes threads wait for each other's cuts, and the
    child of a fork for ever.
    """

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self.compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type) -> "cached[T]": ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: object | None, owner: type) -> "cached[T] | T":
        if instance is None:
            return self
        value = instance.__dict__[self.name] = self.compute(instance)
        return value
