import { expect, expectTypeOf, it } from "vitest";
import * as z from "zod";
import { type CallHandle, type Program, session } from "../src/index.ts";

// The compiler is the test: the code here only makes sessions.

const signature = {
  inputs: z.object({ q: z.string(), most: z.number().default(3) }),
  outputs: z.object({ a: z.string(), sure: z.boolean().default(true) }),
};

it("a signature says what a program is given and gives, and what a caller gives and gets", () => {
  const qa = session(
    ({ q, most }) => {
      expectTypeOf(q).toEqualTypeOf<string>();
      expectTypeOf(most).toEqualTypeOf<number>();
      return { a: q };
    },
    {
      name: "qa",
      signature,
      describe: ({ most }, { sure }) => `${most satisfies number} ${sure satisfies boolean}`,
    },
  );
  expectTypeOf<Parameters<(typeof qa)["call"]>[0]>().toEqualTypeOf<{ q: string; most?: number | undefined }>();
  expectTypeOf<ReturnType<(typeof qa)["call"]>>().toEqualTypeOf<CallHandle<{ a: string; sure: boolean }>>();
  expectTypeOf<Parameters<(typeof qa)["swap"]>[0]>().toExtend<
    Program<{ q: string; most: number }, { a: string; sure?: boolean | undefined }>
  >();
});

it("a program that does not fit its signature does not compile, nor does a call", () => {
  // @ts-expect-error its answer is not a text
  session(() => ({ a: 3 }), { name: "qa", signature });
  // @ts-expect-error it wants what nobody gives
  session(({ context }: { context: string }) => ({ a: context }), { name: "qa", signature });
  // @ts-expect-error neither a function, nor has it forward
  expect(() => session({ backward: () => ({ a: "" }) }, { name: "qa", signature })).toThrow(
    /it must be a function, or/,
  );
  const qa = session(() => ({ a: "" }), { name: "qa", signature });
  // @ts-expect-error a question is missing
  void (() => qa.call({}));
  // @ts-expect-error another program than the signature says
  void (() => qa.swap(() => ({ b: "" })));
});

it("without a signature the program says it", () => {
  const qa = session(async (inputs: { readonly q: string }) => ({ length: inputs.q.length }), { name: "qa" });
  expectTypeOf<Parameters<(typeof qa)["call"]>[0]>().toEqualTypeOf<{ readonly q: string }>();
  expectTypeOf<ReturnType<(typeof qa)["call"]>>().toEqualTypeOf<CallHandle<{ length: number }>>();
});
