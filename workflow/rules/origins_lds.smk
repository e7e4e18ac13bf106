# Linear datamodeling score: retraining on random subsets of the corpus.


rule draw_subsets:
    input:
        documents="results/origins/{setup}/documents.parquet",
    output:
        out="results/origins/{setup}/lds/subsets.parquet",
    priority: 3  # trainings depend on this step
    localrule: True
    resources:
        mem_mb=LIMITS.memory(1000),
        runtime=LIMITS.minutes(30),
    params:
        given=given(ORIGINS.keys("lds", "subsets", "shares"), seed=config["seed"]),
    message:
        "{wildcards.setup}: draw random subsets of the corpus"
    shell:
        step("origins.draw-subsets")


rule retrain_subsets:
    input:
        cooccurrence="results/origins/{setup}/cooccurrence.npz",
        corpus="results/origins/{setup}/corpus.npz",
        vocabulary="results/origins/{setup}/vocabulary.tsv",
        sets="results/origins/{setup}/lds/subsets.parquet",
        word_sets=ORIGINS.word_sets,
    output:
        out="results/origins/{setup}/lds/retrained/batch-{batch}.tsv",
    log:
        "results/logs/origins/{setup}/retrain_subsets/lds/batch-{batch}.log",
    priority: 1  # many jobs
    threads: 1
    resources:
        mem_mb=LIMITS.memory(3000),
        runtime=LIMITS.minutes(1440),
    params:
        given=given(ORIGINS.glove, ORIGINS.retrained_batch("lds"), seed=config["seed"]),
    message:
        "{wildcards.setup}: retrain on subsets, batch {wildcards.batch}"
    shell:
        step("origins.retrain-sets")


use rule predict_removals as predict_subsets with:
    input:
        embeddings=ORIGINS.embeddings(expansion.baseline_sets),
        cooccurrence="results/origins/{setup}/cooccurrence.npz",
        corpus="results/origins/{setup}/corpus.npz",
        vocabulary="results/origins/{setup}/vocabulary.tsv",
        sets="results/origins/{setup}/lds/subsets.parquet",
        word_sets=ORIGINS.word_sets,
    output:
        out="results/origins/{setup}/lds/predictions.tsv",
        ppmi="results/origins/{setup}/lds/ppmi.tsv",
    message:
        "{wildcards.setup}: predict the bias on every subset"


rule score_attributions:
    input:
        retrained=ORIGINS.retrained("lds"),
        subsets="results/origins/{setup}/lds/subsets.parquet",
        differential_bias=ORIGINS.of_tests("differential_bias/by_seed"),
        ppmi=ORIGINS.of_tests("ppmi"),
        predictions="results/origins/{setup}/lds/predictions.tsv",
        ppmi_sets="results/origins/{setup}/lds/ppmi.tsv",
    output:
        removals="results/origins/{setup}/lds/removals.tsv",
        scores="results/origins/{setup}/lds/scores.tsv",
    localrule: True
    resources:
        mem_mb=LIMITS.memory(2000),
        runtime=LIMITS.minutes(60),
    params:
        given=given(seed=config["seed"]),
    message:
        "{wildcards.setup}: score attributions on random subsets of the corpus"
    shell:
        step("origins.score-attributions")
