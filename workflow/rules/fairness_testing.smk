from biaslab.fairness_testing import area as testing_plan


rule prepare_classifier:
    input:
        data=classifier_file("data"),
        schema=classifier_file("schema"),
        network=classifier_file("network"),
        clusters=classifier_file("clusters"),
    output:
        "results/fairness_testing/{classifier}/network.npz",
        "results/fairness_testing/{classifier}/data.npz",
        "results/fairness_testing/{classifier}/classifiers.tsv",
    log:
        "results/logs/fairness_testing/{classifier}/prepare_classifier.log",
    benchmark:
        "results/benchmarks/fairness_testing/{classifier}/prepare_classifier.tsv"
    conda:
        ENVIRONMENT
    resources:
        mem_mb=memory(1500),
        runtime=60,
    params:
        options=testing_options("seeds", "training_epochs"),
        files=named_inputs("network", "clusters"),
        seed=config["seed"],
        code=CODE["prepare_classifier"],
    message:
        "{wildcards.classifier}: encode the data and read or train the network"
    shell:
        "biaslab fairness-testing experiment prepare {input.data:q} --schema {input.schema:q} {params.files}"
        " --results results/fairness_testing/{wildcards.classifier} {params.options} --seed {params.seed}"
        " > {log} 2>&1"


rule search_discrimination:
    input:
        rules.prepare_classifier.output,
        schema=classifier_file("schema"),
        published_bounds=classifier_file("published_bounds"),
    output:
        expand(
            "results/fairness_testing/{{classifier}}/{name}.tsv",
            name=["counts", "curves", "local", "ablation", "fairness", "pairs"],
        ),
        found="results/fairness_testing/{classifier}/found.npz",
    log:
        "results/logs/fairness_testing/{classifier}/search_discrimination.log",
    benchmark:
        "results/benchmarks/fairness_testing/{classifier}/search_discrimination.tsv"
    priority: 1  # long, and others wait for it
    conda:
        ENVIRONMENT
    resources:
        mem_mb=memory(2500),
        runtime=120,
    params:
        options=testing_options(
            "hops", "ablation_hops", "repetitions", "explanations", "uniform_samples", "local_seeds"
        ),
        files=named_inputs("schema", "published_bounds"),
        seed=config["seed"],
        code=CODE["search_discrimination"],
    message:
        "{wildcards.classifier}: search for discriminatory samples"
    shell:
        "biaslab fairness-testing experiment search results/fairness_testing/{wildcards.classifier}"
        " {params.options} {params.files} --seed {params.seed} --threads {threads} > {log} 2>&1"


rule retrain_classifier:
    input:
        rules.prepare_classifier.output,
        rules.search_discrimination.output.found,
        schema=classifier_file("schema"),
    output:
        "results/fairness_testing/{classifier}/retraining.tsv",
    log:
        "results/logs/fairness_testing/{classifier}/retrain_classifier.log",
    benchmark:
        "results/benchmarks/fairness_testing/{classifier}/retrain_classifier.tsv"
    priority: 1  # long, and others wait for it
    conda:
        ENVIRONMENT
    resources:
        mem_mb=memory(1500),
        runtime=60,
    params:
        options=testing_options("retrainings", "retraining_share", "uniform_samples"),
        files=named_inputs("schema"),
        seed=config["seed"],
        code=CODE["retrain_classifier"],
    message:
        "{wildcards.classifier}: retrain with what was found"
    shell:
        "biaslab fairness-testing experiment retrain results/fairness_testing/{wildcards.classifier}"
        " {params.options} {params.files} --seed {params.seed} --threads {threads} > {log} 2>&1"


MEASURED = [
    expand(rule_of_classifier, classifier=TESTED.classifiers)
    for rule_of_classifier in [
        rules.prepare_classifier.output,
        rules.search_discrimination.output,
        rules.retrain_classifier.output,
    ]
]


rule write_fairness_tables:
    input:
        MEASURED,
        claims=ROOT / "workflow/resources/claims/fairness_testing.tsv",
    output:
        report_items(testing_plan.TABLES, "Tables", ".tsv", "fairness_testing"),
        expand(
            "results/fairness_testing/{item.stem}{suffix}",
            item=testing_plan.TABLES,
            suffix=[".md", ".tex"],
        ),
    log:
        "results/logs/fairness_testing/write_fairness_tables.log",
    benchmark:
        "results/benchmarks/fairness_testing/write_fairness_tables.tsv"
    conda:
        ENVIRONMENT
    resources:
        mem_mb=memory(1000),
        runtime=10,
    params:
        code=CODE["write_fairness_tables"],
    message:
        "write the tables of fairness testing"
    shell:
        "biaslab fairness-testing tables results/fairness_testing --claims {input.claims:q} > {log} 2>&1"


rule draw_fairness_figures:
    input:
        MEASURED,
    output:
        report_items(testing_plan.FIGURES, "Figures", ".svg", "fairness_testing"),
        expand(
            "results/fairness_testing/{item.stem}{suffix}",
            item=testing_plan.FIGURES,
            suffix=[".pdf", ".png", ".tsv"],
        ),
    log:
        "results/logs/fairness_testing/draw_fairness_figures.log",
    benchmark:
        "results/benchmarks/fairness_testing/draw_fairness_figures.tsv"
    conda:
        ENVIRONMENT
    resources:
        mem_mb=memory(1000),
        runtime=10,
    params:
        code=CODE["draw_fairness_figures"],
    message:
        "draw the figures of fairness testing"
    shell:
        "biaslab fairness-testing figures results/fairness_testing > {log} 2>&1"


rule fairness_testing:
    input:
        # without any classifier, nothing
        [rules.write_fairness_tables.output, rules.draw_fairness_figures.output] if TESTED.classifiers else [],
    message:
        "all tables and figures of fairness testing"
