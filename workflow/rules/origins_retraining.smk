rule select_sets:
    input:
        differential_bias=ORIGINS.of_tests("differential_bias"),
    output:
        out="results/origins/{setup}/perturbation_sets.parquet",
    priority: 3  # most trainings wait for it
    resources:
        mem_mb=LIMITS.memory(1000),
        runtime=LIMITS.minutes(30),
    params:
        given=given(
            ORIGINS.keys("perturbations", "estimator", "sizes", "random_sizes", "random_sets"),
            seed=config["seed"],
        ),
    message:
        "{wildcards.setup}: select the documents of every perturbation set"
    shell:
        step("origins.select-sets")


rule measure_trained:
    input:
        embeddings=["results/origins/{setup}/embeddings/{set}/batch-{batch}.npz"],
        vocabulary="results/origins/{setup}/vocabulary.tsv",
        word_sets=ORIGINS.word_sets,
    output:
        out="results/origins/{setup}/measured/{set}/batch-{batch}.tsv",
    priority: 2  # what was trained is not needed any more
    resources:
        mem_mb=LIMITS.memory(1000),
        runtime=LIMITS.minutes(60),
    params:
        given=given(),
    message:
        "{wildcards.setup}: measure the bias without {wildcards.set}, batch {wildcards.batch}"
    shell:
        step("origins.measure-sets")


rule measure_sets:
    input:
        tables=ORIGINS.measured("measured", expansion.perturbation_sets),
    output:
        out="results/origins/{setup}/observed.tsv",
    resources:
        mem_mb=LIMITS.memory(1000),
        runtime=LIMITS.minutes(30),
    params:
        given=given(),
    message:
        "{wildcards.setup}: join the bias after every removal"
    shell:
        step("origins.join-sets")


rule evaluate_predictions:
    input:
        baseline="results/origins/{setup}/baseline.tsv",
        predictions="results/origins/{setup}/predictions.tsv",
        observed="results/origins/{setup}/observed.tsv",
    output:
        perturbations="results/origins/{setup}/perturbations.tsv",
        correlation="results/origins/{setup}/correlation.tsv",
    resources:
        mem_mb=LIMITS.memory(1000),
        runtime=LIMITS.minutes(30),
    params:
        given=given(seed=config["seed"]),
    message:
        "{wildcards.setup}: compare predicted with observed bias"
    shell:
        step("origins.evaluate-predictions")
