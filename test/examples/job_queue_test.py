#!/usr/bin/env python3
"""The job queue under load while it is killed again and again.

    job_queue_test.py EXAMPLE_JOB_QUEUE TANDEM

Producers add messages, consumers lease and acknowledge them; the service is killed with SIGKILL and
started anew several times, now and then with --synced. Afterwards: every message whose addition was
answered is there exactly once, or was acknowledged; none whose acknowledgement was answered comes
back; what was never sent is not there; `tandem verify --deep` finds nothing; SIGTERM closes cleanly.
Prints "ok" and what was done, or raises."""
import http.client
import json
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time

KILLS = 5
LIFE_SECONDS = 0.9
PRODUCERS = 3
CONSUMERS = 3
PADDING = "x" * 3000  # So that memory is flushed to files several times.


class Service:
    def __init__(self, program, directory):
        self.command = [program, directory]
        self.process = None
        self.port = 0

    def start(self, *options):
        self.process = subprocess.Popen(self.command + list(options), stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        assert line.startswith("listening on http://127.0.0.1:"), f"the service says {line!r}"
        self.port = int(line.rsplit(":", 1)[1])

    def stop(self, number):
        self.port = 0
        self.process.send_signal(number)
        code = self.process.wait(timeout=10)
        self.process.stdout.close()
        return code


class Client:
    """One connection, made anew after a failure. ask() returns None when the answer is not known."""

    def __init__(self, service):
        self.service = service
        self.connection = None

    def ask(self, method, path, body=None):
        try:
            if self.connection is None:
                self.connection = http.client.HTTPConnection("127.0.0.1", self.service.port, timeout=10)
            self.connection.request(method, path, body)
            answer = self.connection.getresponse()
            return answer.status, answer.read().decode(), answer.headers
        except (OSError, http.client.HTTPException):
            self.close()
            return None

    def close(self):
        if self.connection is not None:
            self.connection.close()
        self.connection = None


class History:
    """What the threads know, by the message's text. Guarded by `lock`."""

    def __init__(self):
        self.lock = threading.Lock()
        self.stop_adding = threading.Event()
        self.stop_leasing = threading.Event()
        self.added = {}  # Answered with 201: text to id.
        self.sent = set()  # Also those whose answer was lost.
        self.acknowledged = set()  # Answered with 204.
        self.perhaps_acknowledged = set()
        self.problems = []

    def problem(self, text):
        with self.lock:
            self.problems.append(text)


def produce(service, history, name):
    client = Client(service)
    number = 0
    while not history.stop_adding.is_set():
        number += 1
        text = f"{name}-{number} {PADDING}"
        with history.lock:
            history.sent.add(text)
        answer = client.ask("POST", "/queues/jobs/messages", text)
        if answer is None:
            time.sleep(0.02)
            continue
        if answer[0] != 201:
            history.problem(f"adding answers {answer[0]} {answer[1]}")
            continue
        with history.lock:
            history.added[text] = json.loads(answer[1])["id"]
        time.sleep(0.002)
    client.close()


def consume(service, history):
    client = Client(service)
    while not history.stop_leasing.is_set():
        answer = client.ask("POST", "/queues/jobs/lease?visibility=2")
        if answer is None or answer[0] in (204, 404):
            time.sleep(0.02)
            continue
        status, text, headers = answer
        if status != 200:
            history.problem(f"leasing answers {status} {text}")
            continue
        with history.lock:
            if text in history.acknowledged:
                history.problems.append(f"{headers['Message-Id']} came back after its acknowledgement")
            if text not in history.sent:
                history.problems.append(f"{headers['Message-Id']} was never sent")
        if random.random() < 0.3:
            continue  # A worker that fails: the message is to come again.
        answer = client.ask("DELETE",
                            f"/queues/jobs/messages/{headers['Message-Id']}?receipt={headers['Receipt']}")
        with history.lock:
            if answer is None:
                history.perhaps_acknowledged.add(text)
            elif answer[0] == 204:
                history.acknowledged.add(text)
            elif answer[0] not in (404, 409):
                history.problems.append(f"acknowledging answers {answer[0]} {answer[1]}")
    client.close()


def run_load(service, history):
    producers = [threading.Thread(target=produce, args=(service, history, f"p{i}"))
                 for i in range(PRODUCERS)]
    consumers = [threading.Thread(target=consume, args=(service, history)) for _ in range(CONSUMERS)]
    for thread in producers + consumers:
        thread.start()
    for kill in range(KILLS):
        time.sleep(LIFE_SECONDS * random.uniform(0.5, 1.5))
        service.stop(signal.SIGKILL)
        service.start(*(["--synced"] if kill % 2 else []))
    time.sleep(LIFE_SECONDS)
    history.stop_adding.set()
    history.stop_leasing.set()
    for thread in producers + consumers:
        thread.join()


def take_what_is_left(service):
    """{text: id} of all messages, each leased once for long. Leases that go on end within 2 s."""
    client = Client(service)
    left = {}
    deadline = time.monotonic() + 10
    while True:
        status, text, headers = client.ask("POST", "/queues/jobs/lease?visibility=600")
        if status == 200:
            assert text not in left, f"{text[:20]} is there twice"
            left[text] = headers["Message-Id"]
            continue
        assert status == 204
        counts = json.loads(client.ask("GET", "/queues/jobs")[1])
        if counts["due"] == 0 and counts["later"] == len(left):
            client.close()
            return left
        assert time.monotonic() < deadline, f"{counts} while {len(left)} were taken"
        time.sleep(0.05)


def check(history, left):
    assert not history.problems, "\n".join(history.problems[:10])
    for text, identity in left.items():
        assert text in history.sent, f"{identity} was never sent"
        assert text not in history.acknowledged, f"{identity} is back after its acknowledgement"
        assert history.added.get(text, identity) == identity, f"{identity} has two ids"
    gone = set(history.added) - set(left) - history.acknowledged - history.perhaps_acknowledged
    assert not gone, f"{len(gone)} messages are lost, among them {min(gone)[:20]}"


def check_bad_requests(service):
    client = Client(service)
    cases = [
        ("GET", "/", None, 404, "nothing is at GET /"),
        ("PUT", "/queues/jobs", "x", 404, "nothing is at PUT"),
        ("GET", "/queues/nowhere", None, 404, "no queue nowhere"),
        ("POST", "/queues/nowhere/lease", None, 404, "no queue nowhere"),
        ("POST", "/queues/a%2Fb%20c/messages", "x", 404, "nothing is at"),
        ("POST", "/queues/a.b/messages", "x", 400, "letters, digits"),
        ("POST", "/queues/" + "q" * 65 + "/messages", "x", 400, "1 to 64"),
        ("POST", "/queues/jobs/messages?delay=soon", "x", 400, "delay is 'soon', expected a number"),
        ("POST", "/queues/jobs/lease?visibility=-1", None, 400, "visibility is '-1'"),
        ("POST", "/queues/jobs/lease?visibility=99999999999999999999", None, 400, "from 0 to 604800"),
        ("DELETE", "/queues/jobs/messages/17", None, 400, "'receipt' is missing"),
        ("DELETE", "/queues/jobs/messages/17?receipt=1", None, 404, "no message 17"),
        ("POST", "/queues/jobs/messages", "x" * (1 << 20) + "x", 413, "at most 1048576 bytes"),
    ]
    for method, path, body, status, text in cases:
        answer = client.ask(method, path, body)
        assert answer is not None, f"{method} {path}: no answer"
        assert answer[0] == status and text in answer[1], f"{method} {path[:40]}: {answer[:2]}"
        client.close()
    bare = http.client.HTTPConnection("127.0.0.1", service.port, timeout=10)
    bare.putrequest("POST", "/queues/jobs/lease")
    bare.endheaders()
    answer = bare.getresponse()
    assert answer.status == 411 and "Content-Length is missing" in answer.read().decode(), answer.status
    bare.close()
    # An old receipt is refused, and a delayed message does not come before its time.
    identity = json.loads(client.ask("POST", "/queues/one/messages", "job")[1])["id"]
    client.ask("POST", "/queues/one/messages?delay=3600", "later")
    old = client.ask("POST", "/queues/one/lease?visibility=0")[2]["Receipt"]
    time.sleep(0.001)
    again = client.ask("POST", "/queues/one/lease")
    assert again[1] == "job" and again[2]["Attempts"] == "2", again
    path = f"/queues/one/messages/{identity}?receipt="
    assert client.ask("DELETE", path + old)[0] == 409
    assert client.ask("DELETE", path + again[2]["Receipt"])[0] == 204
    assert client.ask("DELETE", path + again[2]["Receipt"])[0] == 404
    assert client.ask("POST", "/queues/one/lease")[0] == 204
    assert json.loads(client.ask("GET", "/queues/one")[1]) == {"due": 0, "later": 1}
    assert json.loads(client.ask("GET", "/statistics")[1])["batches"] > 0
    client.close()


def main():
    program, tandem = sys.argv[1:]
    random.seed()
    with tempfile.TemporaryDirectory() as directory:
        database = directory + "/db"
        service = Service(program, database)
        service.start()
        try:
            history = History()
            run_load(service, history)
            left = take_what_is_left(service)
            check(history, left)
            check_bad_requests(service)
            assert service.stop(signal.SIGTERM) == 0, "SIGTERM does not close cleanly"
        finally:
            if service.process.poll() is None:
                service.process.kill()
                service.process.wait()
        verified = subprocess.run([tandem, "verify", database, "--deep"], capture_output=True, text=True)
        assert verified.returncode == 0, verified.stdout + verified.stderr
        counted = subprocess.run([tandem, "count", database, "jobs", "--output", "raw"],
                                 capture_output=True, text=True)
        assert counted.stdout.strip() == str(len(left)), counted.stdout + counted.stderr
    assert len(history.added) > 100 and len(history.acknowledged) > 50, "hardly anything was done"
    print(f"ok: {KILLS} kills, {len(history.added)} added, {len(history.acknowledged)} acknowledged, "
          f"{len(left)} left")


if __name__ == "__main__":
    main()
