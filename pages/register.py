"""Page "Register": what was released of which rows, under which caps, and what is left. Needs no rows."""

from dpviz.app import frame, parts
from dpviz.app.publish import account, checked
from dpviz.figures import as_python

parts.page("Register", "What was released, and what is left?")

checked.ask_released_file()
book = account.account_screen()
if book is not None:
    account.report_screen(book)
frame.go_on("register")
frame.as_python(as_python.register)
