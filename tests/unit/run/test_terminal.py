from io import StringIO

from biaslab.run.terminal import plain_console, plain_table


def printed(table):
    text = StringIO()
    plain_console(file=text, width=40).print(table)
    return text.getvalue()


def test_words_are_flush_left_and_numbers_right():
    table = plain_table(["Word", "Count"], [("she", "1"), ("[b]he[/b]", "234567")], numbers=(1,))
    assert [line.rstrip() for line in printed(table).splitlines()] == [
        "Word        Count",
        "she             1",
        "[b]he[/b]  234567",
    ]


def test_cells_have_the_style_of_their_content():
    styles = {"1": "blue", "she": "bold"}
    table = plain_table(["Word", "Count"], [("she", "1")], numbers=(), style=styles.get)
    assert [[cell.style for cell in column.cells] for column in table.columns] == [["bold"], ["blue"]]
