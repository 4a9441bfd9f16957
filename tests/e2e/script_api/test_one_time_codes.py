"""`utils.captcha.*` and `utils.otp.*`: codes that belong to a test, with its random numbers and its clock."""

from __future__ import annotations

import base64
import struct
import zlib

from agent_files import agent, run_cases
from command import MakeApplication

TESTS = """
const tried = (work) => { try { return work(); } catch (error) { return error.message; } };
export function TestCaptcha(t) {
  const { id, content } = Process("utils.captcha.Make", { width: 130, height: 70, length: 4 });
  const code = Process("utils.captcha.Get", id);
  t.assert.Match(code, "^[0-9]{4}$");
  t.assert.True(content.startsWith("data:image/png;base64,"));
  t.assert.Equal(Process("utils.captcha.Verify", id, code.slice(0, 2) + " " + code.slice(2)), true);
  t.assert.Equal([tried(() => Process("utils.captcha.Verify", id, code)), Process("utils.captcha.Get", id)], ["Invalid captcha.", ""]);
  t.assert.Equal(tried(() => Process("utils.captcha.Verify", id, "")), "Please enter the captcha.");
  const old = Process("xiang.helper.Captcha", {});
  t.assert.Equal(tried(() => Process("xiang.helper.CaptchaValidate", old.id, "x")), "Invalid captcha.");
  t.assert.Equal(Process("utils.captcha.Get", old.id), "");
  t.assert.Contains(tried(() => Process("utils.captcha.Make", { type: "audio" })), "audio is not supported, only images: mock it with t.mock.process(");
  t.assert.Contains(tried(() => Process("utils.captcha.Make", { width: -1 })), "width must be a whole number from 1 to 2000, got -1");
  t.log(code + " " + content.split(",")[1]);
}
export function TestOTP(t) {
  t.mock.now("2030-01-01T00:00:00Z");
  const { id, code } = Process("utils.otp.Generate", {});
  t.assert.Match(code, "^[0-9]{6}$");
  t.assert.Equal([Process("utils.otp.Get", id), Process("utils.otp.Validate", id, code, false)], [code, true]);
  t.mock.advance("9m");
  t.assert.Equal(Process("utils.otp.Get", id), code);
  t.mock.advance("1m");
  t.assert.Equal(Process("utils.otp.Get", id), "");
  t.assert.Equal(tried(() => Process("utils.otp.Validate", id, code)), "Invalid or expired OTP code");
  const long = Process("utils.otp.Generate", { length: 12, type: "alphanumeric", expiration: 3600 });
  t.assert.Match(long.code, "^[A-Z0-9]{12}$");
  t.mock.advance("59m");
  t.assert.Equal([tried(() => Process("utils.otp.Validate", long.id, "")), tried(() => Process("utils.otp.Validate", long.id, "no"))], ["OTP code is required", "Invalid or expired OTP code"]);
  t.assert.Equal(Process("utils.otp.Get", long.id), "");
  const gone = Process("utils.otp.Generate", {});
  t.assert.Equal([Process("utils.otp.Delete", gone.id), Process("utils.otp.Get", gone.id)], [null, ""]);
}
export function TestSeed(t) {
  const draw = () => [Process("utils.captcha.Make", {}).id, Process("utils.otp.Generate", {}).code];
  t.mock.random(1);
  const first = draw();
  t.mock.random(1);
  t.assert.Equal(draw(), first);
  t.assert.NotEqual(draw(), first);
}
"""
HOOK = """
function Create(ctx, messages) { const otp = Process("utils.otp.Generate", {}); return { metadata: otp }; }
function Next(ctx) { return { data: [ctx.metadata.code, Process("utils.otp.Validate", ctx.metadata.id, ctx.metadata.code)] }; }
"""


def test_codes_are_made_kept_and_grow_old(app: MakeApplication) -> None:
    application = app({"codes_test.ts": TESTS, **agent(hooks=HOOK, cases=[{"id": "a", "input": "x"}])})
    records = application.results("-i", "scripts.demo.codes", code=0)
    code, content = records["TestCaptcha"]["logs"][0].split(" ")
    image = base64.b64decode(content)
    assert struct.unpack(">II", image[16:24]) == (130, 70)
    size = struct.unpack(">I", image[33:37])[0]
    pixels = zlib.decompress(image[41 : 41 + size])
    middle = pixels[131 * 35 + 1 : 131 * 36]
    assert len(code) == 4 and len(pixels) == 131 * 70 and set(middle) == {0, 255}
    seeded = [run_cases(application, "--seed", "7", code=0)["a"]["output"] for _ in range(2)]
    assert seeded[0] == seeded[1] and seeded[0][1] is True
