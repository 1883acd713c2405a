# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A headless Chromium, driven by its DevTools protocol over a pipe."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import time

import pytest

MISSING = "chromium is not installed: run scripts/setup.sh --full"


def find_chromium() -> str | None:
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which(
        "google-chrome")


# The setup of `make check-full` installs it, so that a test without it fails there.
needs_chromium = pytest.mark.skipif(
    find_chromium() is None and not os.environ.get("FACT_REQUIRE_COMPILER"), reason=MISSING)


class Browser:
    """One page. `problems` are messages of its console, exceptions, and requests."""

    def __init__(self, profile):
        program = find_chromium()
        if program is None:
            raise FileNotFoundError(MISSING)
        to_browser, self._out = os.pipe()
        self._in, from_browser = os.pipe()
        # The browser reads commands from descriptor 3 and writes to 4.
        script = f'exec "$@" 3<&{to_browser} 4>&{from_browser}'
        self._process = subprocess.Popen(
            ["bash", "-c", script, "bash", program, "--headless=new", "--no-sandbox",
             "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run",
             "--remote-debugging-pipe", f"--user-data-dir={profile}", "about:blank"],
            pass_fds=(to_browser, from_browser), stderr=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self._received, self._number, self._session = b"", 0, None
        self.problems: list[str] = []
        self._loaded = False
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.send("Target.attachToTarget", targetId=target,
                                  flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *error):
        os.close(self._out)
        os.close(self._in)
        self._process.terminate()
        self._process.wait(30)

    def send(self, method: str, **parameters):
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._out, data):]
        while True:
            answer = self._receive()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer.get("result", {})

    def _receive(self, seconds: float = 120) -> dict:
        end = time.monotonic() + seconds
        while b"\0" not in self._received:
            ready, *_ = select.select([self._in], [], [], max(0, end - time.monotonic()))
            if not ready:
                raise TimeoutError("Chromium does not answer")
            data = os.read(self._in, 1 << 20)
            if not data:
                raise RuntimeError("Chromium ended")
            self._received += data
        text, _, self._received = self._received.partition(b"\0")
        message = json.loads(text)
        self._note(message.get("method", ""), message.get("params", {}))
        return message

    def _note(self, method: str, parameters: dict) -> None:
        if method == "Page.loadEventFired":
            self._loaded = True
        elif method == "Runtime.exceptionThrown":
            self.problems.append(str(parameters["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled":
            self.problems.append(str(parameters["args"]))
        elif method == "Log.entryAdded":
            self.problems.append(parameters["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            url = parameters["request"]["url"]
            if not url.startswith("file:"):
                self.problems.append(f"a request for {url}")

    def open(self, path, width: int, height: int, dark: bool = False) -> None:
        """Loads a file in a window of this size."""
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=width < 600)
        self.send("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
            {"name": "prefers-reduced-motion", "value": "reduce"}])
        self._loaded = False
        self.send("Page.navigate", url=f"file://{path}")
        while not self._loaded:
            self._receive()

    def evaluate(self, expression: str):
        result = self.send("Runtime.evaluate", expression=expression, returnByValue=True,
                           awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(str(result["exceptionDetails"]))
        return result["result"].get("value")

    def press(self, key: str, code: int, text: str = "") -> None:
        for kind in ("keyDown", "keyUp"):
            self.send("Input.dispatchKeyEvent", type=kind, key=key, code=key,
                      windowsVirtualKeyCode=code, **({"text": text} if text and kind == "keyDown"
                                                     else {}))

    def screenshot(self, path, whole: bool = True) -> None:
        data = self.send("Page.captureScreenshot", format="png",
                         captureBeyondViewport=whole)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
