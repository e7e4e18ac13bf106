"""How the inputs of the area are read before a run; see `biaslab.run.inspection`."""

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from biaslab.classifiers.encoding import read_table
from biaslab.classifiers.schema import load_schema
from biaslab.fairness_testing.text.area import corpora_in
from biaslab.fairness_testing.text.corpus import Source, read_features, read_parts
from biaslab.run.inspection import AtHand, Reading
from biaslab.text.labelled import read_texts


def readings(config: Mapping[str, Any], at_hand: AtHand) -> Iterator[Reading]:
    """Yield how schema and data of each classifier, and texts and terms of each corpus are read."""
    section = config["fairness_testing"]
    for name in dict.fromkeys([*section["run"], *section["otherwise"]]):
        classifier, key = section["classifiers"][name], f"fairness_testing.classifiers.{name}"
        for schema in at_hand.own(classifier["schema"]):
            yield f"{key}.schema", partial(load_schema, schema)
            for data in at_hand.own(classifier["data"]):
                yield f"{key}.data", partial(_read_data, data, schema)
    texts, corpora = section["text"], corpora_in(config)
    for name in dict.fromkeys([*texts["run"], *texts["otherwise"]]):
        corpus, key = corpora[name], f"fairness_testing.text.corpora.{name}"
        for terms in at_hand.own(corpus["terms"]):
            yield f"{key}.terms", partial(read_features, terms, corpus["features"])
        if files := at_hand.own(corpus["source"], corpus["validation"], corpus["test"]):
            source = Source(corpus["format"], *files, positive=corpus["positive"])
            yield f"corpora.{name}.source", partial(read_parts, source, config["seed"])
        for file in at_hand.own(corpus["sentences"]):
            yield f"{key}.sentences", partial(read_texts, file)


def _read_data(data: Path, schema: Path) -> None:
    read_table(data, load_schema(schema))
