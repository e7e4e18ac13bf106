# The tables and figures of every area, by one writer, a rule an item. A shell command is put together when it runs: it
# must not name the variables of the loops.
for area in filter(PLAN.has, PLAN.areas):

    for stem, made in PLAN.items(area).items():

        rule:
            name:
                f"report_{area.name}_{stem}"
            input:
                PLAN.report_inputs(area, made),
            output:
                shown(area, made),
                [f"results/{area.name}/{file}" for one in made for file in one.files[1:]],
            log:
                f"results/logs/{area.name}/report/{stem}.log",
            resources:
                mem_mb=LIMITS.memory(2000),
                runtime=LIMITS.minutes(30),
            params:
                step=f"{area.command}.report.{stem}",
                given=given(area=area.name, units=PLAN.described(area, made), results="results/", only=[stem]),
            message:
                f"write {stem} of {area.name.replace('_', ' ')}"
            shell:
                step("{params.step}")
