rule project_words:
    input:
        embeddings=["results/origins/{setup}/embeddings/{trained}/batch-{batch}.npz"],
        vocabulary="results/origins/{setup}/vocabulary.tsv",
        word_sets=ORIGINS.word_sets,
    output:
        out="results/origins/{setup}/projected/{trained}/batch-{batch}.tsv",
    wildcard_constraints:
        trained=rf"{BASELINE}|{PATTERN}",
    priority: 2  # what was trained is not needed any more
    resources:
        mem_mb=LIMITS.memory(1000),
        runtime=LIMITS.minutes(60),
    params:
        given=given(),
    message:
        "{wildcards.setup}: project words onto the bias axis in {wildcards.trained}, batch {wildcards.batch}"
    shell:
        step("origins.project-words")


rule fit_axes:
    input:
        tables=ORIGINS.measured("projected", expansion.baseline_sets, expansion.largest_sets),
    output:
        projections="results/origins/{setup}/projections.tsv",
        frequency="results/origins/{setup}/axis_frequency.tsv",
    resources:
        mem_mb=LIMITS.memory(1000),
        runtime=LIMITS.minutes(30),
    params:
        given=given(seed=config["seed"]),
    message:
        "{wildcards.setup}: join the projections onto the bias axis"
    shell:
        step("origins.fit-axes")
