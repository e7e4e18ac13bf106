rule project_words:
    input:
        embeddings=ORIGINS.embeddings(expansion.baseline_sets, expansion.largest_sets),
        vocabulary="results/origins/{setup}/vocabulary.tsv",
        word_sets=ORIGINS.word_sets,
    output:
        projections="results/origins/{setup}/projections.tsv",
        frequency="results/origins/{setup}/axis_frequency.tsv",
    resources:
        mem_mb=LIMITS.memory(2000),
        runtime=LIMITS.minutes(60),
    params:
        given=given(seed=config["seed"]),
    message:
        "{wildcards.setup}: project the target words onto the bias axis"
    shell:
        step("origins.project-words")
