# Whether the sets that influence finds for GloVe change the bias by PPMI and in word2vec (Section 5.4).


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


use rule measure_trained as measure_word2vec with:
    input:
        embeddings=ORIGINS.word2vec_embeddings(expansion.baseline_sets, expansion.perturbation_sets),
        vocabulary="results/origins/{setup}/vocabulary.tsv",
        word_sets=ORIGINS.word_sets,
    output:
        out="results/origins/{setup}/word2vec/observed.tsv",
    message:
        "{wildcards.setup}: measure the bias in word2vec"


use rule answer_analogies as measure_word2vec_analogies with:
    input:
        embeddings=ORIGINS.word2vec_embeddings(expansion.baseline_sets, expansion.largest_sets),
        vocabulary="results/origins/{setup}/vocabulary.tsv",
    output:
        out="results/origins/{setup}/word2vec/analogies.tsv",
    message:
        "{wildcards.setup}: answer analogies in word2vec"


rule compare_word2vec:
    input:
        embeddings=ORIGINS.word2vec_embeddings(expansion.baseline_sets),
        vocabulary="results/origins/{setup}/vocabulary.tsv",
        glove="results/origins/{setup}/ppmi/word_sets.tsv",
    output:
        random_sets="results/origins/{setup}/word2vec/word_sets.tsv",
        correlation="results/origins/{setup}/word2vec/correlation.tsv",
    resources:
        mem_mb=LIMITS.memory(2000),
        runtime=LIMITS.minutes(60),
    params:
        given=given(seed=config["seed"]),
    message:
        "{wildcards.setup}: compare the bias in word2vec with that in GloVe"
    shell:
        step("origins.compare-word2vec")


rule measure_ppmi_sets:
    input:
        cooccurrence="results/origins/{setup}/cooccurrence.npz",
        corpus="results/origins/{setup}/corpus.npz",
        vocabulary="results/origins/{setup}/vocabulary.tsv",
        sets="results/origins/{setup}/perturbation_sets.parquet",
        word_sets=ORIGINS.word_sets,
    output:
        bias="results/origins/{setup}/ppmi/sets.tsv",
    threads: LIMITS.threads(2)
    resources:
        mem_mb=LIMITS.memory(4000),
        runtime=LIMITS.minutes(120),
    params:
        given=given(),
    message:
        "{wildcards.setup}: measure the bias by PPMI after every removal"
    shell:
        step("origins.measure-ppmi-sets")


rule compare_transfer:
    input:
        baseline="results/origins/{setup}/baseline.tsv",
        observed="results/origins/{setup}/observed.tsv",
        ppmi="results/origins/{setup}/ppmi/sets.tsv",
        word2vec=ORIGINS.word2vec_bias,
        sets="results/origins/{setup}/perturbation_sets.parquet",
    output:
        changes="results/origins/{setup}/transfer/changes.tsv",
        responses="results/origins/{setup}/transfer/responses.tsv",
    resources:
        mem_mb=LIMITS.memory(1000),
        runtime=LIMITS.minutes(30),
    params:
        given=given(seed=config["seed"]),
    message:
        "{wildcards.setup}: compare GloVe, PPMI and word2vec after every removal"
    shell:
        step("origins.compare-transfer")
