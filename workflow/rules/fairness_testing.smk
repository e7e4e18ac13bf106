from biaslab.fairness_testing.inputs import Inputs as TestingInputs

TESTING = TestingInputs(PLAN)


include: "fairness_testing_text.smk"


wildcard_constraints:
    classifier="|".join(TESTING.classifiers),


rule prepare_classifier:
    input:
        data=TESTING.file("data"),
        schema=TESTING.file("schema"),
        network=TESTING.file("network"),
        clusters=TESTING.file("clusters"),
    output:
        "results/fairness_testing/{classifier}/network.npz",
        "results/fairness_testing/{classifier}/data.npz",
        "results/fairness_testing/{classifier}/classifiers.tsv",
    localrule: True
    resources:
        mem_mb=LIMITS.memory(1500),
        runtime=LIMITS.minutes(60),
    params:
        given=given(
            folder="results/fairness_testing/{classifier}",
            seed=config["seed"],
            **part(TESTING.section, "seeds", "training_epochs"),
        ),
    message:
        "{wildcards.classifier}: encode the data and read or train the network"
    shell:
        step("fairness-testing.prepare-classifier")


SEARCHED = expand(
    "results/fairness_testing/{{classifier}}/{name}.tsv",
    name=["counts", "curves", "local", "ablation", "fairness", "steps"],
)


rule search_discrimination:
    input:
        rules.prepare_classifier.output,
        schema=TESTING.file("schema"),
        published_bounds=TESTING.file("published_bounds"),
    output:
        SEARCHED,
        found="results/fairness_testing/{classifier}/found.npz",
    priority: 1  # long, and others wait for it
    resources:
        mem_mb=LIMITS.memory(2500),
        runtime=LIMITS.minutes(120),
    params:
        given=given(
            folder="results/fairness_testing/{classifier}",
            effort=part(
                TESTING.section,
                "hops",
                "ablation_hops",
                "repetitions",
                "explanations",
                "uniform_samples",
                "local_seeds",
            )
            | {"seed": config["seed"]},
        ),
    message:
        "{wildcards.classifier}: search for discriminatory samples"
    shell:
        step("fairness-testing.search-discrimination")


rule compare_at_budgets:
    input:
        rules.prepare_classifier.output,
        schema=TESTING.file("schema"),
        published_bounds=TESTING.file("published_bounds"),
    output:
        counts="results/fairness_testing/{classifier}/budgets.tsv",
    resources:
        mem_mb=LIMITS.memory(1500),
        runtime=LIMITS.minutes(60),
    params:
        given=given(
            folder="results/fairness_testing/{classifier}",
            effort={
                "queries": TESTING.section["query_budgets"],
                "hops": TESTING.section["budget_hops"],
                "repetitions": TESTING.section["repetitions"],
                "seed": config["seed"],
            },
        ),
    message:
        "{wildcards.classifier}: compare testers at equal numbers of queries"
    shell:
        step("fairness-testing.compare-at-budgets")


rule retrain_classifier:
    input:
        rules.prepare_classifier.output,
        found=rules.search_discrimination.output.found,
        schema=TESTING.file("schema"),
    output:
        retraining="results/fairness_testing/{classifier}/retraining.tsv",
    priority: 1  # long, and others wait for it
    resources:
        mem_mb=LIMITS.memory(1500),
        runtime=LIMITS.minutes(60),
    params:
        given=given(
            folder="results/fairness_testing/{classifier}",
            effort={
                "retrainings": TESTING.section["retrainings"],
                "share": TESTING.section["retraining_share"],
                "uniform_samples": TESTING.section["uniform_samples"],
                "seed": config["seed"],
            },
        ),
    message:
        "{wildcards.classifier}: retrain with what was found"
    shell:
        step("fairness-testing.retrain-classifier")


rule fairness_testing:
    input:
        PLAN.report_files("fairness_testing"),
        expand(
            [
                *SEARCHED,
                *rules.retrain_classifier.output,
                "results/fairness_testing/{classifier}/classifiers.tsv",
            ],
            classifier=TESTING.classifiers,
        ),
        expand("results/fairness_testing/text-{texts}/{file}", texts=READING.corpora, file=READING.claimed),
    message:
        "all tables and figures of fairness testing"
