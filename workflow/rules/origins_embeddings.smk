rule read_corpus:
    input:
        source=ORIGINS.corpus_source,
    output:
        corpus="results/origins/{setup}/corpus.npz",
        documents="results/origins/{setup}/documents.parquet",
        vocabulary="results/origins/{setup}/vocabulary.tsv",
    priority: 3  # most trainings wait for it
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
    priority: 3  # most trainings wait for it
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
    output:
        out="results/origins/{setup}/embeddings/baseline/batch-{batch}.npz",
    priority: 3  # most trainings wait for it
    threads: 1
    resources:
        mem_mb=LIMITS.memory(3000),
        runtime=LIMITS.minutes(720),
    params:
        given=given(ORIGINS.glove, ORIGINS.batch, seed=config["seed"]),
    message:
        "{wildcards.setup}: train baselines, batch {wildcards.batch}"
    shell:
        step("embeddings.train-glove")


rule train_without_set:
    input:
        cooccurrence="results/origins/{setup}/cooccurrence.npz",
        corpus="results/origins/{setup}/corpus.npz",
        sets=ORIGINS.sets_of,
    output:
        out="results/origins/{setup}/embeddings/{set}/batch-{batch}.npz",
    priority: 1  # many, and others wait for them
    threads: 1
    resources:
        mem_mb=LIMITS.memory(3000),
        runtime=LIMITS.minutes(720),
    params:
        given=given(ORIGINS.glove, ORIGINS.batch, seed=config["seed"]),
    message:
        "{wildcards.setup}: retrain without {wildcards.set}, batch {wildcards.batch}"
    shell:
        step("embeddings.train-glove")


rule answer_analogies:
    input:
        embeddings=["results/origins/{setup}/embeddings/{trained}/batch-{batch}.npz"],
        vocabulary="results/origins/{setup}/vocabulary.tsv",
    output:
        out="results/origins/{setup}/answered/{trained}/batch-{batch}.tsv",
    wildcard_constraints:
        trained=rf"{BASELINE}|{PATTERN}",
    priority: 2  # what was trained is not needed any more
    resources:
        mem_mb=LIMITS.memory(2000),
        runtime=LIMITS.minutes(240),
    params:
        given=given(),
    message:
        "{wildcards.setup}: answer analogies in {wildcards.trained}, batch {wildcards.batch}"
    shell:
        step("embeddings.measure-analogies")


rule measure_analogies:
    input:
        tables=ORIGINS.measured("answered", expansion.baseline_sets, expansion.perturbation_sets),
    output:
        out="results/origins/{setup}/analogies.tsv",
    resources:
        mem_mb=LIMITS.memory(1000),
        runtime=LIMITS.minutes(30),
    params:
        given=given(),
    message:
        "{wildcards.setup}: join the answers to analogies"
    shell:
        step("embeddings.join-analogies")
