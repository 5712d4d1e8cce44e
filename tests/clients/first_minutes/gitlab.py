#!/usr/bin/env python3
"""A GitLab that grants a sign-in by the device authorization grant and knows its user.

    gitlab.py PORT_FILE     listens on a free port of this machine, and writes its address into the file

The user agrees at the second poll. A request with another token than the granted one is answered by 401."""
import http.server
import json
import sys
from urllib.parse import parse_qs

GRANTED = "granted-access-token"
polls = 0


class Gitlab(http.server.BaseHTTPRequestHandler):
    def answer(self, status, body):
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def do_POST(self):
        global polls
        form = parse_qs(self.rfile.read(int(self.headers.get("Content-Length", 0))).decode())
        if self.path == "/oauth/authorize_device":
            page = f"http://{self.headers['Host']}/oauth/device"
            return self.answer(200, {
                "device_code": "device", "user_code": "0A44L90H", "verification_uri": page,
                "verification_uri_complete": f"{page}?user_code=0A44L90H", "expires_in": 300, "interval": 1,
            })
        if self.path == "/oauth/token" and form.get("device_code") == ["device"]:
            polls += 1
            if polls < 2:
                return self.answer(400, {"error": "authorization_pending"})
            return self.answer(200, {
                "access_token": GRANTED, "refresh_token": "granted-refresh-token", "token_type": "Bearer",
                "expires_in": 7200, "scope": "api", "created_at": 1_767_225_600,
            })
        self.answer(404, {"error": "404 Not Found"})

    def do_GET(self):
        if self.headers.get("Authorization") != f"Bearer {GRANTED}":
            return self.answer(401, {"message": "401 Unauthorized"})
        answers = {
            "/api/v4/user": {"id": 7, "username": "alice", "name": "Alice Ambler", "state": "active"},
            "/api/v4/version": {"version": "19.2.0", "revision": "0123456"},
            "/oauth/token/info": {"resource_owner_id": 7, "scope": ["api"], "expires_in": 7000},
        }
        body = answers.get(self.path.split("?")[0])
        self.answer(200, body) if body else self.answer(404, {"error": "404 Not Found"})

    def log_message(self, *arguments):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Gitlab)
with open(sys.argv[1], "w") as file:
    file.write(f"http://127.0.0.1:{server.server_port}")
server.serve_forever()
