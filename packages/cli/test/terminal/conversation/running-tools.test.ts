import { tool } from "@colloquy/host";
import { reply, scriptedModel, toolCalls } from "@colloquy/runtime-test/models";
import { afterEach, expect, test, vi } from "vitest";
import { onScreen } from "./screen.ts";

afterEach(() => void vi.useRealTimers());

test.each(["always", undefined] as const)(
  "the time of a tool that runs long is shown (approval: %s)",
  async (approval) => {
    const { promise, resolve } = Promise.withResolvers<string>();
    const dig = tool({
      name: "dig",
      description: "Digs.",
      input: { jsonSchema: { type: "object" } },
      ...(approval === undefined ? {} : { approval }),
      run: () => promise,
    });
    let now = 0;
    const options = { tools: [dig], machine: { tools: [dig.declaration] }, now: () => now };
    const model = scriptedModel([toolCalls([{ name: "dig", arguments: { deep: true } }]), reply("Done.")]);
    const { ask, type, until, screen, finished, conversation } = onScreen(model, options);
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    await ask("Dig.", approval === undefined ? "○ dig" : "⁇ run dig?");
    // The time of a person who is asked is not that of the tool.
    now += approval === undefined ? 0 : 100_000;
    expect(screen()).not.toContain(" s)");
    expect(vi.getTimerCount()).toBe(approval === undefined ? 1 : 0);
    type("y");
    await until(approval === undefined ? "> y" : "✓ dig was approved");
    let drawn = 0;
    conversation.onChange(() => void (drawn += 1));
    now += 2_999;
    vi.advanceTimersByTime(2_999);
    expect(screen()).toContain("○ dig");
    expect(screen()).not.toContain(" s)");
    now += 1;
    vi.advanceTimersByTime(1);
    expect(drawn).toBe(3);
    expect(screen()).toMatch(/○ dig \(3 s\)(?: \{"deep":true\})?\n/);
    now += 62_400;
    expect(screen()).toContain("○ dig (1 min 5 s)");
    resolve("gold");
    await until("Done.\nAgent");
    expect(finished()).toMatch(/● dig(?: \{"deep":true\})?\n {2}└ gold/);
    expect(vi.getTimerCount()).toBe(0);
  },
);
