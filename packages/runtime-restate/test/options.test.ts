import { conversationMachine } from "@colloquy/machine";
import { connect, serve, type ServeOptions } from "@colloquy/runtime-restate";
import { ruleModel } from "@colloquy/runtime-test/models";
import { loopbackServer } from "@colloquy/runtime-test/server";
import { redisHub } from "@colloquy/runtime-restate/redis";
import { describe, expect, it } from "vitest";

const options: ServeOptions = {
  machine: conversationMachine(),
  llm: () => Promise.reject(new Error("not called")),
  port: 0,
};

describe("options", () => {
  it("the error names a misspelt option", async () => {
    const misspelt = { prot: 1, hup: 1 };
    await expect(serve({ ...options, ...misspelt })).rejects.toThrow('serve has no option "prot"');
    expect(() => connect({ url: "http://127.0.0.1:1", ...misspelt })).toThrow('connect has no option "prot"');
  });

  it("the error names an invalid address, without its password", async () => {
    expect(() => connect({ url: "restate" })).toThrow("url must be an address such as http://127.0.0.1:8080");
    await expect(serve({ ...options, admin: "restate" })).rejects.toThrow("admin must be an address");
    const refused = await serve({ ...options, admin: "http://me:word@127.0.0.1:1" }).catch(String);
    expect(refused).toContain("Restate does not answer at http://127.0.0.1:1:");
    expect(() => redisHub({ url: "127.0.0.1:6379" })).toThrow("must be an address such as redis://127.0.0.1:6379");
  });

  it.each(["snapshotEvery", "knownThreads"])("%s is a whole number", async (name) => {
    await expect(serve({ ...options, [name]: Number.NaN })).rejects.toThrow(
      `${name} must be a whole number ≥ 0 (got NaN)`,
    );
  });

  it("the error names an admin API that does not answer, and the worker stops listening", async () => {
    await expect(serve({ ...options, admin: "http://127.0.0.1:1" })).rejects.toThrow(
      "Restate does not answer at http://127.0.0.1:1",
    );
  });

  it("the error names a port that is taken", async () => {
    const worker = await serve(options);
    const port = Number(new URL(worker.url).port);
    await expect(serve({ ...options, port })).rejects.toThrow(`can't listen at port ${port} of 127.0.0.1`);
    await worker.close();
  });

  it("the error names an ingress that does not answer, or is not Restate's", async () => {
    const nowhere = connect({ url: "http://127.0.0.1:1" });
    await expect(nowhere.thread("ada").exportJournal()).rejects.toThrow(
      "Restate does not answer at http://127.0.0.1:1",
    );
    await nowhere.close();
    await using server = await loopbackServer({ model: ruleModel([]) });
    const elsewhere = connect({ url: server.url });
    await expect(elsewhere.thread("ada").exportJournal()).rejects.toThrow('no worker of "thread" is known at');
    await elsewhere.close();
  });

  it("a worker listens on loopback", async () => {
    const worker = await serve(options);
    expect(worker.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/u);
    await worker.close();
  });
});
