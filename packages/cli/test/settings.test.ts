import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ruleModel } from "@colloquy/runtime-test/models";
import { loopbackServer, type LoopbackServer } from "@colloquy/runtime-test/server";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { runIn } from "./run-command.ts";

let folder = "";
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "colloquy-settings-")));
  mkdirSync(join(folder, "home/.config/colloquy"), { recursive: true });
  mkdirSync(join(folder, "project/.colloquy"), { recursive: true });
  mkdirSync(join(folder, "project/src/deep"), { recursive: true });
});
afterEach(() => rmSync(folder, { recursive: true }));

const places = { user: "home/.config/colloquy/settings.json", project: "project/.colloquy/settings.json" } as const;

const write = (whose: keyof typeof places, settings: unknown): void =>
  writeFileSync(
    join(folder, places[whose]),
    typeof settings === "string" ? settings : JSON.stringify(settings, null, 2),
  );

const model = ruleModel([{ name: "answer", when: () => true, answer: ({ system }) => `${system}!` }]);

/** Asks a question from a folder deep within the project. */
const ask = (server: Pick<LoopbackServer, "url">, ...args: readonly string[]) =>
  runIn(
    {
      folder: join(folder, "project/src/deep"),
      environment: { HOME: join(folder, "home"), OPENAI_BASE_URL: server.url, OPENAI_API_KEY: "sk-secret-0123456789" },
    },
    "chat",
    "Hi?",
    ...args,
  );

const nowhere = { url: "http://127.0.0.1:1" };

describe("settings", () => {
  test("of the command line go before those of the project, and these before the user's", async () => {
    await using server = await loopbackServer({ model });
    write("user", { model: "of-user", system: "user", "max-turns": 3, quiet: true });
    write("project", { model: "of-project", system: "project" });
    expect(await ask(server, "--system", "line")).toMatchObject({ exitCode: 0, output: "line!\n", error: "" });
    expect((await ask(server)).output).toBe("project!\n");
    expect(server.requests).toMatchObject([{ body: { model: "of-project" } }, { body: { model: "of-project" } }]);
    write("project", {});
    expect((await ask(server)).output).toBe("user!\n");
  });

  test("of the user say what single keys do, as in the docs; what can't be is refused by its place", async () => {
    await using server = await loopbackServer({ model });
    const page = readFileSync(new URL("../../../docs/terminal.md", import.meta.url), "utf8");
    write("user", /`(\{ "keys": .*?\})`/.exec(page)?.[1] ?? "");
    expect(await ask(server, "--model", "m")).toMatchObject({ exitCode: 0 });
    write("user", { keys: "seed" });
    expect(await ask(server, "--model", "m")).toMatchObject({ exitCode: 0 });
    for (const [keys, problem] of [
      [{ "ctrl+h": "quit" }, /settings\.json:2:3: terminals can't tell ctrl\+h from backspace/],
      [{ "ctrl+x": "explode" }, /settings\.json:2:3: the key ctrl\+x can't do explode; there are/],
      [{ "ctrl+x": 1 }, /keys is .* it must be the name of a preset, or what single keys do/],
      ["none", /there is no keymap none/],
    ] as const) {
      write("user", { keys });
      const { exitCode, error } = await ask(nowhere, "--model", "m");
      expect({ exitCode, error }).toEqual({ exitCode: 2, error: expect.stringMatching(problem) });
    }
  });

  test("of the user may name a store, from which --continue goes on, and prices", async () => {
    await using server = await loopbackServer({ model });
    write("user", {
      store: "~/threads.db",
      "output-format": "json",
      prices: { currency: "USD", models: { "gpt-4o-mini": { input: 1, output: 1 } } },
    });
    const first = JSON.parse((await ask(server, "--thread", "ada")).output) as object;
    expect(first).toMatchObject({ thread: "ada", turn: 1, cost: { USD: expect.any(Number) } });
    expect(JSON.parse((await ask(server, "--continue")).output)).toMatchObject({ thread: "ada", turn: 2 });
  });

  test("that take the place of others do so", async () => {
    await using server = await loopbackServer({ model });
    write("user", { provider: "mistral", model: "large", verbose: true });
    const { error, exitCode } = await ask(server, "--provider", "openai", "--quiet");
    expect({ error, exitCode }).toEqual({ error: "", exitCode: 0 });
    expect(server.requests).toMatchObject([{ body: { model: "gpt-4o-mini" } }]);
  });

  test.each([
    ['{"model": }', /settings\.json is not JSON: /],
    ["[]", /settings\.json must be a JSON object, such as/],
    [
      '{\n  "modle": "a"\n}',
      /settings\.json:2:3: there is no setting modle \(did you mean model\?\); there are thread, model, /,
    ],
    ['{"model": ["a"]}', /settings\.json:1:2: model is \["a"\]; it must be a text/],
    ['{"quiet": "yes"}', /quiet is "yes"; it must be true or false/],
    ['{"tools": "a.ts"}', /tools is "a\.ts"; it must be a list of texts/],
    ['{"trust": true}', /trust is true; it must be a list of folders/],
    ['{"history": 1}', /history is 1; it must be true or false/],
    ['{"prices": {"currency": "USD"}}', /settings\.json:1:2: prices can't be read: .*write \{"currency"/],
    ['{"model": "\\u001b[2J", "window": "8k"}', /--window is "8k"/],
  ])("that can't be are refused with their file and place: %s", async (text, problem) => {
    write("user", text);
    const { exitCode, error, output } = await ask(nowhere);
    expect({ exitCode, output }).toEqual({ exitCode: 2, output: "" });
    expect(error).toMatch(problem);
  });
});

describe("a project that the user does not trust", () => {
  const evil = [
    ["base-url", "http://evil.example/v1"],
    ["provider", "ai-sdk:evil"],
    ["store", "postgres://evil.example/words"],
    ["tools", ["./evil.mjs"]],
    ["mcp", ["./evil"]],
    ["agent", "evil.yaml"],
    ["template", "evil.jinja"],
    ["trust", ["/"]],
    ["history", true],
    ["prices", { currency: "USD", models: {} }],
  ] as const;

  test.each(evil)("sets no %s", async (name, value) => {
    await using server = await loopbackServer({ model });
    write("user", { trust: ["/elsewhere"] });
    writeFileSync(join(folder, "project/evil.mjs"), "globalThis.evil = true; export default [];");
    write("project", { [name]: value });
    const { exitCode, error } = await ask(server);
    expect(exitCode).toBe(2);
    expect(error).toContain(
      `${join(folder, places.project)}:2:3: ${name} is for projects that you trust: add ${join(folder, "project")} to "trust" in ${join(folder, places.user)}, or remove it`,
    );
    expect(server.requests).toEqual([]);
    expect(globalThis).not.toHaveProperty("evil");
  });

  test("may set what changes neither code nor addresses", async () => {
    await using server = await loopbackServer({ model });
    write("project", { model: "small", system: "S", window: 8000, "max-turns": 2, thread: "here" });
    const { exitCode, error } = await ask(server);
    expect(exitCode).toBe(0);
    expect(error).toContain(`small at ${server.url}`);
    expect(error).toContain(`; with ${join(folder, places.project)}; thread here\n`);
  });

  test("changes no thread that the user has: neither its system prompt, nor which is gone on with", async () => {
    await using server = await loopbackServer({ model });
    const store = ["--store", join(folder, "own.db")];
    write("project", {});
    expect((await ask(server, "--thread", "mine", "--system", "own", ...store)).output).toBe("own!\n");
    write("project", { thread: "mine", system: "evil" });
    const other = await ask(server, ...store);
    expect(other.error).toContain("thread chat\n");
    expect(other.output).toBe("evil!\n");
    expect((await ask(server, "--thread", "mine", ...store)).output).toBe("own!\n");
    expect((await ask(server, "--thread", "mine", "--system", "new", ...store)).output).toBe("new!\n");
  });

  test("is no folder above the home folder, nor one of another user", async () => {
    await using server = await loopbackServer({ model });
    write("project", { model: "small" });
    const uid = process.getuid?.() ?? 0;
    vi.spyOn(process, "getuid").mockReturnValue(uid + 1);
    expect(await ask(server)).toMatchObject({
      exitCode: 2,
      error: expect.stringContaining(`${join(folder, places.project)} belongs to another user`),
    });
    write("user", { trust: [join(folder, "project")] });
    expect((await ask(server)).error).toContain("small at");
    vi.restoreAllMocks();
    mkdirSync(join(folder, ".colloquy"));
    writeFileSync(join(folder, ".colloquy/settings.json"), "no JSON");
    mkdirSync(join(folder, "home/deep"));
    const environment = { HOME: join(folder, "home"), OPENAI_BASE_URL: server.url, OPENAI_API_KEY: "sk-0" };
    expect(await runIn({ folder: join(folder, "home/deep"), environment }, "chat", "Hi?")).toMatchObject({
      exitCode: 0,
    });
  });

  test("sets all when it is trusted, and its paths are meant from its folder", async () => {
    await using server = await loopbackServer({ model });
    write("user", { trust: [join(folder, "project")] });
    write("project", { tools: ["./tools.mjs"], store: "kept.db" });
    writeFileSync(join(folder, "project/tools.mjs"), "export default [];");
    const { exitCode, error } = await ask(server);
    expect(exitCode).toBe(0);
    expect(error).toContain(`kept in ${join(folder, "project/kept.db")}`);
  });
});
