"""Pages of HTML from templates."""

from pathlib import Path


def render(template: Path, **values: object) -> str:
    """Fill a Jinja template: text is escaped, a value that is missing is an error."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(template.parent),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template(template.name).render(values)
