"""One data owner in a process of its own, which `owner_process` starts: requests on stdin, answers on stdout."""

import signal
import sys

from dpviz.owners.data_owner import serve

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that started it
    serve(sys.stdin, sys.stdout)
