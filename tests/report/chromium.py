"""A headless Chromium driven over the DevTools protocol, with nothing but the standard library."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time


def find():
    """The path of a Chromium, or None."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class Browser:
    """One browser with one page. Console messages, exceptions and requests are collected in `events`."""

    def __init__(self):
        self.profile = tempfile.mkdtemp(prefix="gpusync-report-")
        from_us, self.to_browser = os.pipe()
        self.from_browser, to_us = os.pipe()
        arguments = [find(), "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
                     "--disable-dev-shm-usage", f"--user-data-dir={self.profile}", "--remote-debugging-pipe"]
        # The protocol's pipes are the descriptors 3 and 4.
        shell = f"exec \"$@\" 3<&{from_us} 4>&{to_us}"
        self.process = subprocess.Popen(["bash", "-c", shell, "chromium", *arguments], pass_fds=(from_us, to_us),
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(from_us)
        os.close(to_us)
        self.buffer = b""
        self.number = 0
        self.session = None
        self.events = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def close(self):
        """Ends the browser and removes its profile."""
        for descriptor in (self.to_browser, self.from_browser):
            os.close(descriptor)
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

    def call(self, method, **parameters):
        """Calls a method of the protocol and returns its result."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to_browser, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def _receive(self, timeout=60):
        deadline = time.monotonic() + timeout
        while b"\0" not in self.buffer:
            if not select.select([self.from_browser], [], [], max(0, deadline - time.monotonic()))[0]:
                raise TimeoutError("the browser does not answer")
            chunk = os.read(self.from_browser, 1 << 20)
            if not chunk:
                raise RuntimeError("the browser has ended")
            self.buffer += chunk
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def open(self, path, width=1280, height=900, dark=False, script=True):
        """Opens a file at a window size, in light or dark mode, with or without JavaScript, and waits for it."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                  mobile=width < 600)
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.call("Emulation.setScriptExecutionDisabled", value=not script)
        self.events.clear()
        self.call("Page.navigate", url="file://" + os.path.abspath(path))
        self._wait_for("Page.loadEventFired")
        # Two frames, so that observers of sizes have run.
        if script:
            self.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def _wait_for(self, method):
        while not any(event.get("method") == method for event in self.events):
            self.events.append(self._receive())

    def evaluate(self, expression):
        """The value of a JavaScript expression in the page."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"])
        return result["result"].get("value")

    def press(self, key, code=0, text=""):
        """Presses and releases a key."""
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code,
                      **({"text": text} if text and kind == "keyDown" else {}))

    def screenshot(self, path, full=False):
        """Saves what the page looks like as PNG."""
        data = self.call("Page.captureScreenshot", captureBeyondViewport=full,
                         **({"clip": dict(self._content(), scale=1)} if full else {}))["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def _content(self):
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        return {"x": 0, "y": 0, "width": size["width"], "height": size["height"]}

    def pdf(self):
        """The page as printed, as PDF."""
        return base64.b64decode(self.call("Page.printToPDF", printBackground=True)["data"])

    def complaints(self):
        """Console errors and warnings, uncaught exceptions and log entries since the page was opened."""
        found = []
        for event in self.events:
            method, parameters = event.get("method"), event.get("params", {})
            if method == "Runtime.exceptionThrown":
                found.append(parameters["exceptionDetails"].get("exception", {}).get("description", str(parameters)))
            elif method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning", "assert"):
                found.append(str(parameters["args"]))
            elif method == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
                found.append(parameters["entry"]["text"])
        return found

    def requests(self):
        """The addresses that the page asked for, apart from itself and data: addresses."""
        urls = [event["params"]["request"]["url"] for event in self.events
                if event.get("method") == "Network.requestWillBeSent"]
        return [url for url in urls if not url.startswith("data:")][1:]
