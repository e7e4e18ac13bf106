rule read_corpus:
    input:
        source=ORIGINS.corpus_source,
    output:
        corpus="results/origins/{setup}/corpus.npz",
        documents="results/origins/{setup}/documents.parquet",
        vocabulary="results/origins/{setup}/vocabulary.tsv",
    priority: 3  # most trainings depend on this step
    resources:
        mem_mb=LIMITS.memory(4000),
        runtime=LIMITS.minutes(480),
    params:
        given=given(ORIGINS.corpus),
        checksum=ORIGINS.corpus_checksum,
    message:
        "{wildcards.setup}: read the corpus"
    shell:
        step("embeddings.read-corpus")


rule count_cooccurrences:
    input:
        corpus="results/origins/{setup}/corpus.npz",
        vocabulary="results/origins/{setup}/vocabulary.tsv",
    output:
        out="results/origins/{setup}/cooccurrence.npz",
    priority: 3  # most trainings depend on this step
    threads: LIMITS.threads(8)
    resources:
        mem_mb=LIMITS.memory(6000),
        runtime=LIMITS.minutes(120),
    params:
        given=given(ORIGINS.keys("glove", "window")),
    message:
        "{wildcards.setup}: count co-occurrences"
    shell:
        step("embeddings.count-cooccurrences")


rule train_baseline:
    input:
        cooccurrence="results/origins/{setup}/cooccurrence.npz",
        vocabulary="results/origins/{setup}/vocabulary.tsv",
        word_sets=ORIGINS.word_sets,
    output:
        out="results/origins/{setup}/embeddings/baseline/batch-{batch}.npz",
        measured="results/origins/{setup}/measured/baseline/batch-{batch}.tsv",
        answered="results/origins/{setup}/answered/baseline/batch-{batch}.tsv",
        projected="results/origins/{setup}/projected/baseline/batch-{batch}.tsv",
    priority: 3  # most trainings depend on this step
    threads: 1
    resources:
        mem_mb=LIMITS.memory(3000),
        runtime=LIMITS.minutes(720),
    params:
        given=given(ORIGINS.glove, ORIGINS.batch, seed=config["seed"]),
    message:
        "{wildcards.setup}: train and measure baselines, batch {wildcards.batch}"
    shell:
        step("origins.train-embeddings")


use rule train_baseline as train_without_set with:
    input:
        cooccurrence="results/origins/{setup}/cooccurrence.npz",
        vocabulary="results/origins/{setup}/vocabulary.tsv",
        word_sets=ORIGINS.word_sets,
        corpus="results/origins/{setup}/corpus.npz",
        sets=ORIGINS.sets_of,
    output:
        out="results/origins/{setup}/embeddings/{set}/batch-{batch}.npz",
        measured="results/origins/{setup}/measured/{set}/batch-{batch}.tsv",
        answered="results/origins/{setup}/answered/{set}/batch-{batch}.tsv",
        projected="results/origins/{setup}/projected/{set}/batch-{batch}.tsv",
    priority: 1  # many jobs, on which other steps depend
    message:
        "{wildcards.setup}: retrain without {wildcards.set} and measure, batch {wildcards.batch}"
