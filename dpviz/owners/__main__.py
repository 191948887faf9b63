"""One data owner in a process of its own, which `owner_process` starts: requests on stdin, answers on stdout."""

import sys

from dpviz.owners.data_owner import serve

if __name__ == "__main__":
    serve(sys.stdin, sys.stdout)
