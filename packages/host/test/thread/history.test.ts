import { messagesOf, textOf } from "@colloquy/machine";
import { describe, expect, test } from "vitest";
import { errorOf, says, stage } from "../stage.ts";

describe("time travel", () => {
  test("shows the state behind any entry, and what is otherwise behind another", async () => {
    const { host } = stage({ script: [says("1"), says("2")] });
    const thread = host.thread();
    await thread.ask("one");
    await thread.ask("two");
    const then = await thread.at(2);
    expect(then.value).toBe("completed");
    expect(messagesOf(then).map(textOf)).toEqual(["one", "1"]);
    expect(await thread.at(4)).toEqual(await thread.state());
    expect(await thread.difference(2, 4)).toMatchObject({ before: 2, after: 4, added: [2], removed: [] });
    expect(await thread.difference(4, 2)).toMatchObject({ added: [], removed: [2] });
    for (const seq of [-1, 5, 0.5]) expect(String(await errorOf(thread.at(seq)))).toMatch(/entries 0 to 4/);
  });
});
