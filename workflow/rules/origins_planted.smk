# Recall of planted documents.
from biaslab.origins.attribution.registry import TABLES


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
        out_cooccurrence="results/origins/{setup}/planted/{dose}/cooccurrence.npz",
    resources:
        mem_mb=LIMITS.memory(4000),
        runtime=LIMITS.minutes(60),
    params:
        given=given(ORIGINS.planted, ORIGINS.keys("glove", "window"), seed=config["seed"]),
    message:
        "{wildcards.setup}: plant documents with words of the tests as a share {wildcards.dose} of the tokens"
    shell:
        step("origins.plant-documents")


rule train_planted:
    input:
        cooccurrence="results/origins/{setup}/planted/{dose}/cooccurrence.npz",
    output:
        out="results/origins/{setup}/planted/{dose}/embeddings/baseline/batch-{batch}.npz",
    threads: 1
    resources:
        mem_mb=LIMITS.memory(3000),
        runtime=LIMITS.minutes(720),
    params:
        given=given(ORIGINS.glove, ORIGINS.batch, seed=config["seed"]),
    message:
        "{wildcards.setup}: train with planted documents, dose {wildcards.dose}, batch {wildcards.batch}"
    shell:
        step("embeddings.train-glove")


use rule attribute_documents as attribute_planted with:
    input:
        embeddings=ORIGINS.embeddings(expansion.baseline_sets),
        cooccurrence="results/origins/{setup}/planted/{dose}/cooccurrence.npz",
        corpus="results/origins/{setup}/planted/{dose}/corpus.npz",
        documents="results/origins/{setup}/planted/{dose}/documents.parquet",
        vocabulary="results/origins/{setup}/planted/{dose}/vocabulary.tsv",
        word_sets=ORIGINS.word_sets,
    output:
        out="results/origins/{setup}/planted/{dose}/differential_bias/{weat}.parquet",
        by_seed="results/origins/{setup}/planted/{dose}/differential_bias/by_seed/{weat}.parquet",
        scan="results/origins/{setup}/planted/{dose}/ppmi/{weat}.parquet",
    message:
        "{wildcards.setup}: attribute {wildcards.weat} to planted documents, dose {wildcards.dose}"


rule measure_recall:
    input:
        ORIGINS.planted_tables(*(f"{kind}/{{weat}}" for kind in TABLES)),
        documents=ORIGINS.planted_tables("documents"),
    output:
        recall="results/origins/{setup}/planted/recall.tsv",
        pairs="results/origins/{setup}/planted/pairs.tsv",
    localrule: True
    resources:
        mem_mb=LIMITS.memory(2000),
        runtime=LIMITS.minutes(60),
    params:
        given=given(seed=config["seed"]),
    message:
        "{wildcards.setup}: measure the recall of planted documents by attribution"
    shell:
        step("origins.measure-recall")
