# Effect of the sets that influence chooses for GloVe on the bias in PPMI and word2vec (Section 5.4).


rule train_word2vec:
    input:
        corpus="results/origins/{setup}/corpus.npz",
        vocabulary="results/origins/{setup}/vocabulary.tsv",
        sets=ORIGINS.left_out,
    output:
        out="results/origins/{setup}/word2vec/embeddings/{trained}/batch-0.npz",
    wildcard_constraints:
        trained=r"[a-z][a-z0-9_-]*",
    threads: 1
    resources:
        mem_mb=LIMITS.memory(2000),
        runtime=LIMITS.minutes(1440),
    params:
        given=given(ORIGINS.word2vec, seed=config["seed"]),
    message:
        "{wildcards.setup}: train word2vec, {wildcards.trained}"
    shell:
        step("embeddings.train-word2vec")


rule measure_word2vec:
    input:
        embeddings=ORIGINS.word2vec_embeddings(expansion.baseline_sets, expansion.perturbation_sets),
        baselines=ORIGINS.word2vec_embeddings(expansion.baseline_sets),
        largest=ORIGINS.word2vec_embeddings(expansion.largest_sets),
        vocabulary="results/origins/{setup}/vocabulary.tsv",
        word_sets=ORIGINS.word_sets,
        glove="results/origins/{setup}/ppmi/word_sets.tsv",
    output:
        observed="results/origins/{setup}/word2vec/observed.tsv",
        analogies="results/origins/{setup}/word2vec/analogies.tsv",
        random_sets="results/origins/{setup}/word2vec/word_sets.tsv",
        correlation="results/origins/{setup}/word2vec/correlation.tsv",
    resources:
        mem_mb=LIMITS.memory(2000),
        runtime=LIMITS.minutes(300),
    params:
        given=given(seed=config["seed"]),
    message:
        "{wildcards.setup}: measure word2vec and compare it with GloVe"
    shell:
        step("origins.measure-word2vec")
