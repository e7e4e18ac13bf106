"""How the inputs of the area are read before a run; see `biaslab.run.inspection`."""

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from biaslab.hate_speech.area import corpora_in, encoder_files
from biaslab.hate_speech.corpus import NEWS, Source, read_splits
from biaslab.hate_speech.probes import read_probes
from biaslab.run.inspection import AtHand, Reading
from biaslab.text.identifiers import identifier_ids, read_identifiers
from biaslab.text.labelled import read_texts
from biaslab.text.tokens import Tokenizer


def readings(config: Mapping[str, Any], at_hand: AtHand) -> Iterator[Reading]:
    """Yield how the identifiers, texts, news and sentences of each corpus are read."""
    section, corpora, seed = config["hate_speech"], corpora_in(config), config["seed"]
    vocabulary = at_hand.file(encoder_files(section)["vocabulary"])
    for name in dict.fromkeys([*section["run"], *section["otherwise"]]):
        corpus, key = corpora[name], f"hate_speech.corpora.{name}"
        for identifiers in at_hand.own(corpus["identifiers"]):
            yield f"{key}.identifiers", partial(_read_identifiers, identifiers, vocabulary)
            for news in at_hand.own(corpus["news"]):
                yield f"{key}.news", partial(_read_news, news, identifiers, seed)
        if files := at_hand.own(corpus["source"], corpus["validation"], corpus["test"]):
            source = Source(corpus["format"], *files, positive=corpus["positive"], split=corpus["split"])
            yield f"corpora.{name}.source", partial(read_splits, source, seed)
        for file in at_hand.own(corpus["sentences"]):
            yield f"{key}.sentences", partial(read_texts, file)


def _read_identifiers(file: Path, vocabulary: Path | None) -> None:
    identifiers = read_identifiers(file)
    if vocabulary:
        identifier_ids(identifiers, Tokenizer.load(vocabulary))


def _read_news(news: Path, identifiers: Path, seed: int) -> None:
    read_probes({NEWS: news}, {}, read_identifiers(identifiers).terms, None, seed)
