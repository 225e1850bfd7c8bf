import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { createOpenAI } from "@ai-sdk/openai";
import { reply, scriptedModel } from "@colloquy/runtime-test/models";
import { loopbackServer } from "@colloquy/runtime-test/server";
import { expect, test, vi } from "vitest";
import { run, runIn } from "./run-command.ts";
import { testFolder } from "./test-folder.ts";

const { folder } = testFolder();

const format = join(folder, "format.json");
writeFileSync(
  format,
  JSON.stringify({
    user: { role: "User", role_sep: ":", pre: "", suf: "\n" },
    agent: { role: "Agent", role_sep: ":", pre: "", suf: "\n" },
    system_prompt: { pre: "", suf: "\n" },
    prompt: { pre: "", suf: "" },
  }),
);

test.each([
  ["openai", [], "/v1/chat/completions"],
  ["openai-responses", [], "/v1/responses"],
  ["completion", ["--template", format], "/v1/completions"],
  ["ai-sdk:openai", [], "/v1/responses"],
  ["ai-sdk:@ai-sdk/openai", [], "/v1/responses"],
])("--provider %s calls a server in its own way", async (provider, args, path) => {
  vi.stubEnv("OPENAI_API_KEY", "sk-secret-0123456789");
  expect(createOpenAI).toBeTypeOf("function");
  await using server = await loopbackServer({ model: scriptedModel([reply("Yes.")]) });
  const given = ["chat", "Hi?", "--provider", provider, "--model", "small", "--base-url", server.url, ...args];
  const { exitCode, output, error } = await run(...given);
  vi.unstubAllEnvs();
  expect({ exitCode, output }).toEqual({ exitCode: 0, output: "Yes.\n" });
  expect(error).toContain(`small at ${server.url}`);
  expect(error).not.toContain("secret");
  expect(server.requests).toMatchObject([{ path }]);
});

test("/model asks another model of a provider of the AI SDK", async () => {
  vi.stubEnv("OPENAI_API_KEY", "sk-secret-0123456789");
  await using server = await loopbackServer({ model: scriptedModel([reply("One."), reply("Two.")]) });
  const given = ["chat", "--provider", "ai-sdk:openai", "--model", "small", "--base-url", server.url];
  const { output } = await runIn({ input: Readable.from(["a\n/model large\nb\n"]) }, ...given);
  vi.unstubAllEnvs();
  expect(output).toBe("One.\nTwo.\n");
  expect(server.requests).toMatchObject([{ body: { model: "small" } }, { body: { model: "large" } }]);
});

const anywhere = ["--base-url", "http://127.0.0.1:1"];

test.each([
  [["--provider", "mistral"], "--provider mistral needs the --model that is to be called"],
  [
    ["--provider", "mistral", "--model", "large"],
    '--provider mistral needs "@ai-sdk/mistral" and "ai", not installed beside colloquy; install it: npm install --global @ai-sdk/mistral ai',
  ],
  [["--provider", "ai-sdk:../evil", "--model", "m"], '--provider is "ai-sdk:../evil"; name a provider such as'],
  [
    ["--provider", "ai-sdk:@colloquy/host", "--model", "m"],
    'the package "@colloquy/host" has no provider of the AI SDK',
  ],
  [["--provider", "completion", ...anywhere], "--provider completion needs a --template"],
  [
    ["--provider", "completion", "--template", "none.json", ...anywhere],
    'the template "none.json" can\'t be used: there is no file or folder "none.json"',
  ],
  [["--template", format, ...anywhere], "--template is about text completion"],
  [["--base-url", "nowhere"], "the base URL is not a URL of http"],
  [["--base-url", "http://ada:secret@127.0.0.1:1"], "holds a user name or a password"],
])("what can't be called is refused before anything is asked: %j", async (args, problem) => {
  const { exitCode, error, output } = await run("chat", "Hi?", ...args);
  expect({ exitCode, output }).toEqual({ exitCode: 2, output: "" });
  expect(error).toContain(problem);
  expect(error).not.toContain("ada:secret");
});
