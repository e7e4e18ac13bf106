"""Rows of a table as its file has them, for classifiers that were fitted on its columns.

Encoded samples round numbers where the schema has bins, divides or clips. A classifier that takes the columns
of the file is asked about the rows themselves: a variant has all of a row's own values except the protected
ones.
"""

import csv
import io
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.classifiers.domain import Protected
from biaslab.classifiers.encoding import column_names, read_rows
from biaslab.classifiers.schema import Attribute, Bins, Integer, Schema

Ask = Callable[[pd.DataFrame], np.ndarray]
"""Returns the probabilities of the classes, (n, k) float64, for n rows of a table."""


@dataclass(frozen=True)
class Rows:
    """The rows of a file beside their encoded samples.

    Attributes
    ----------
    frame : pandas.DataFrame
        All columns of the file, with the types that `pandas.read_csv` gives them.
    X : (n, d) int32
        The same rows, encoded by the schema.
    schema : Schema
    """

    frame: pd.DataFrame
    X: np.ndarray
    schema: Schema

    @classmethod
    def read(cls, path: str | os.PathLike, schema: Schema, X: np.ndarray, lines: np.ndarray) -> "Rows":
        """Read the rows that stand in some lines of a file and are encoded as `X`."""
        rows = read_rows(Path(path), schema.separator, schema.comment, schema.last_line_open)
        text, numbers = io.StringIO(), []
        writer = csv.writer(text)
        writer.writerow(column_names(rows, schema, path))
        for line, fields in rows:
            writer.writerow(field.strip() for field in fields)
            numbers.append(line)
        text.seek(0)
        frame = pd.read_csv(text, skip_blank_lines=False)[np.isin(numbers, lines)]
        return cls(frame.reset_index(drop=True).infer_objects(), X, schema)

    def variants(self, rows: slice, protected: Protected) -> pd.DataFrame:
        """Return some rows with every combination of protected values, those of a row together.

        The combination that a row has itself keeps the row's own values. Another one has what the file
        writes most often for it, or what the schema does where the file has none.
        """
        m = len(protected.values)
        own = self.frame[rows]
        return self.combine(own, self.X[rows], protected, np.repeat(protected.positions(self.X[rows]), m))

    def combine(
        self, own: pd.DataFrame, X: np.ndarray, protected: Protected, positions: np.ndarray
    ) -> pd.DataFrame:
        """Return rows of a table, encoded as `X`, with every combination of protected values.

        `positions` (n * m,) is the combination that each row has itself, which keeps its values.
        """
        n, m = len(own), len(protected.values)
        table = own.loc[np.repeat(own.index, m)].reset_index(drop=True)
        others = np.tile(np.arange(m), n) != positions
        for place, values in zip(protected.columns, protected.values.T, strict=True):
            attribute = self.schema.attributes[place]
            usual = pd.Series([self.usual(place, int(code)) for code in values])
            column = table[attribute.column].astype(object)
            column[others] = usual.astype(object).to_numpy()[np.tile(np.arange(m), n)[others]]
            table[attribute.column] = column.infer_objects()
        return table

    def draw(self, X: np.ndarray, rng: np.random.Generator) -> pd.DataFrame:
        """Return rows of a table for encoded samples, (n, d) int32.

        Each value is drawn from those that the file has for its code, or is what the schema writes for it.
        """
        columns = {}
        for place, attribute in enumerate(self.schema.attributes):
            values, codes = self.frame[attribute.column], self.X[:, place]
            drawn = np.empty(len(X), object)
            for code in np.unique(X[:, place]):
                alike, wanted = np.flatnonzero(codes == code), X[:, place] == code
                if len(alike):
                    drawn[wanted] = values.to_numpy(object)[rng.choice(alike, int(wanted.sum()))]
                else:
                    drawn[wanted] = self._written(attribute, int(code))
            columns[attribute.column] = pd.Series(drawn).infer_objects()
        return pd.DataFrame(columns)

    def usual(self, place: int, code: int) -> object:
        """Return the value that the file has most often among those encoded so."""
        attribute = self.schema.attributes[place]
        values = self.frame[attribute.column][self.X[:, place] == code].mode()
        return values.iloc[0] if len(values) else self._written(attribute, code)

    def _written(self, attribute: Attribute, code: int) -> object:
        """Return what the schema writes for an encoded number, with the type of its column."""
        cell, dtype = attribute.cell(code), self.frame[attribute.column].dtype
        return str(cell).lower() == "true" if pd.api.types.is_bool_dtype(dtype) else cell


def rounded_attributes(schema: Schema) -> list[str]:
    """Return the names of the attributes whose encoded number stands for several numbers of the file."""
    return [
        one.name
        for one in schema.attributes
        if isinstance(one, Bins)
        or (isinstance(one, Integer) and not one.coded and (one.divide_by > 1 or one.clip))
    ]
