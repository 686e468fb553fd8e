"""Sequences whose elements are made or read when they are asked for, by their place."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import TypeVar, overload

T = TypeVar("T")


class ByPlace(Sequence[T]):
    """Indexing and slicing as a list has them; a subclass says how many there are, and gives one by its place."""

    @abstractmethod
    def at(self, place: int) -> T:
        """The element at a place from 0 up to below the length."""

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> list[T]: ...
    def __getitem__(self, index: int | slice) -> T | list[T]:
        if isinstance(index, slice):
            return [self.at(place) for place in range(*index.indices(len(self)))]
        place = index + len(self) if index < 0 else index
        if not 0 <= place < len(self):
            raise IndexError(index)
        return self.at(place)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)
