# What debiasing does to the ranking of documents by their influence on a bias: of the setups that both areas run.
import re

TRANSFORMS = [f"results/debiasing/{{setup}}/transforms/{stage}.npz" for stage in DEBIASING.stages()]


wildcard_constraints:
    stage="|".join(map(re.escape, DEBIASING.stages())),


rule make_debiasing_transform:
    input:
        lists=DEBIASING.word_lists,
        embeddings=ORIGINS.embeddings(expansion.baseline_sets),
        vocabulary="results/origins/{setup}/vocabulary.tsv",
    output:
        out="results/debiasing/{setup}/transforms/{stage}.npz",
    resources:
        mem_mb=LIMITS.memory(2000),
        runtime=LIMITS.minutes(60),
    params:
        given=given(DEBIASING.stage, components=BIASES["components"]),
    message:
        "{wildcards.setup}: find what debiasing ({wildcards.stage}) does to every word"
    shell:
        step("debiasing.make-debiasing-transform")


use rule estimate_differential_bias as estimate_debiased_differential_bias with:
    input:
        embeddings=ORIGINS.embeddings(expansion.baseline_sets),
        cooccurrence="results/origins/{setup}/cooccurrence.npz",
        corpus="results/origins/{setup}/corpus.npz",
        documents="results/origins/{setup}/documents.parquet",
        vocabulary="results/origins/{setup}/vocabulary.tsv",
        word_sets=ORIGINS.word_set,
        transforms=TRANSFORMS,
    output:
        out="results/debiasing/{setup}/differential_bias/{weat}.parquet",
        by_seed="results/debiasing/{setup}/differential_bias/by_seed/{weat}.parquet",
    message:
        "{wildcards.setup}: estimate every document's differential bias of {wildcards.weat} after debiasing"


rule compare_document_rankings:
    input:
        before=ORIGINS.of_tests("differential_bias/by_seed"),
        after=ORIGINS.of_tests("differential_bias/by_seed", "results/debiasing"),
        embeddings=ORIGINS.embeddings(expansion.baseline_sets),
        vocabulary="results/origins/{setup}/vocabulary.tsv",
        word_sets=ORIGINS.word_sets,
        transforms=TRANSFORMS,
    output:
        out="results/debiasing/{setup}/document_ranking.tsv",
    resources:
        mem_mb=LIMITS.memory(2000),
        runtime=LIMITS.minutes(30),
    params:
        given=given(),
    message:
        "{wildcards.setup}: compare the rankings of documents before and after debiasing"
    shell:
        step("debiasing.compare-document-rankings")
