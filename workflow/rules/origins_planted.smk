# Documents that were planted to be found.
from biaslab.origins.checks.planted.inputs import PlantedInputs

PLANTED = PlantedInputs(ORIGINS)


wildcard_constraints:
    dose=r"[0-9][0-9.e-]*",


rule plant_documents:
    input:
        corpus="results/origins/{setup}/corpus.npz",
        documents="results/origins/{setup}/documents.parquet",
        vocabulary="results/origins/{setup}/vocabulary.tsv",
        word_sets=ORIGINS.word_sets,
    output:
        out_corpus="results/origins/{setup}/planted/{dose}/corpus.npz",
        out_documents="results/origins/{setup}/planted/{dose}/documents.parquet",
        out_vocabulary="results/origins/{setup}/planted/{dose}/vocabulary.tsv",
    resources:
        mem_mb=LIMITS.memory(4000),
        runtime=LIMITS.minutes(60),
    params:
        given=given(PLANTED.planted, seed=config["seed"]),
    message:
        "{wildcards.setup}: plant documents whose tokens are words of the tests, a share of {wildcards.dose}"
    shell:
        step("origins.plant-documents")


use rule count_cooccurrences as count_planted with:
    input:
        corpus="results/origins/{setup}/planted/{dose}/corpus.npz",
        vocabulary="results/origins/{setup}/planted/{dose}/vocabulary.tsv",
    output:
        out="results/origins/{setup}/planted/{dose}/cooccurrence.npz",
    message:
        "{wildcards.setup}: count co-occurrences with planted documents, dose {wildcards.dose}"


use rule train_baseline as train_planted with:
    input:
        cooccurrence="results/origins/{setup}/planted/{dose}/cooccurrence.npz",
    output:
        out="results/origins/{setup}/planted/{dose}/embeddings/baseline/batch-{batch}.npz",
    params:
        given=given(ORIGINS.glove, PLANTED.batch, seed=config["seed"]),
    message:
        "{wildcards.setup}: train with planted documents, dose {wildcards.dose}, batch {wildcards.batch}"


use rule estimate_differential_bias as estimate_planted with:
    input:
        embeddings=PLANTED.embeddings,
        cooccurrence="results/origins/{setup}/planted/{dose}/cooccurrence.npz",
        corpus="results/origins/{setup}/planted/{dose}/corpus.npz",
        documents="results/origins/{setup}/planted/{dose}/documents.parquet",
        vocabulary="results/origins/{setup}/planted/{dose}/vocabulary.tsv",
        word_sets=ORIGINS.word_set,
    output:
        out="results/origins/{setup}/planted/{dose}/differential_bias/{weat}.parquet",
        by_seed="results/origins/{setup}/planted/{dose}/differential_bias/by_seed/{weat}.parquet",
    message:
        "{wildcards.setup}: estimate the differential bias of planted documents, {wildcards.weat}, dose {wildcards.dose}"


use rule scan_ppmi as scan_planted_ppmi with:
    input:
        cooccurrence="results/origins/{setup}/planted/{dose}/cooccurrence.npz",
        corpus="results/origins/{setup}/planted/{dose}/corpus.npz",
        documents="results/origins/{setup}/planted/{dose}/documents.parquet",
        vocabulary="results/origins/{setup}/planted/{dose}/vocabulary.tsv",
        word_sets=ORIGINS.word_set,
    output:
        scan="results/origins/{setup}/planted/{dose}/ppmi/{weat}.parquet",
    message:
        "{wildcards.setup}: measure planted documents by PPMI, {wildcards.weat}, dose {wildcards.dose}"


rule measure_recall:
    input:
        PLANTED.tables,
        documents=PLANTED.documents,
    output:
        recall="results/origins/{setup}/planted/recall.tsv",
        pairs="results/origins/{setup}/planted/pairs.tsv",
    resources:
        mem_mb=LIMITS.memory(2000),
        runtime=LIMITS.minutes(60),
    params:
        given=given(seed=config["seed"]),
    message:
        "{wildcards.setup}: see which attributions find the planted documents"
    shell:
        step("origins.measure-recall")
