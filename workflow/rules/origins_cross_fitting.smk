# Predictions by baselines that did not choose the documents.


rule cross_fit:
    input:
        embeddings=ORIGINS.embeddings(expansion.baseline_sets),
        cooccurrence="results/origins/{setup}/cooccurrence.npz",
        corpus="results/origins/{setup}/corpus.npz",
        vocabulary="results/origins/{setup}/vocabulary.tsv",
        differential_bias=ORIGINS.of_tests("differential_bias/by_seed"),
        sets="results/origins/{setup}/perturbation_sets.parquet",
        word_sets=ORIGINS.word_sets,
    output:
        out="results/origins/{setup}/cross_fitting/predictions.tsv",
    threads: LIMITS.threads(8)
    resources:
        mem_mb=LIMITS.memory(4000),
        runtime=LIMITS.minutes(480),
    params:
        given=given(ORIGINS.influence, ORIGINS.keys("perturbations", "estimator"), seed=config["seed"]),
    message:
        "{wildcards.setup}: predict the effect of sets with baselines that did not choose the sets"
    shell:
        step("origins.cross-fit")
