import { createClient } from "redis";
import { test } from "vitest";

import { redisStore } from "../../../src/stores/redis/index.ts";
import { opensLittle } from "../long-thread.ts";
import { withRedis } from "./server.ts";

withRedis("a long thread in Redis", ({ url, prefix }) => {
  test("is opened by what is looked at of it", { timeout: 120_000 }, async () => {
    const own = createClient({ url });
    await own.connect();
    let [calls, bytes] = [0, 0];
    const read = <Answer>(answer: Answer): Answer => {
      bytes += JSON.stringify(answer)?.length ?? 0;
      return answer;
    };
    const store = redisStore({
      prefix: prefix(),
      client: {
        // The store sends a script by `eval` only after an `evalSha` of it that the server did not know.
        eval: async (...given) => read(await own.eval(...given)),
        // A call is counted when it is sent, since a closed host may have left a look at the inboxes under way.
        evalSha: async (...given) => {
          calls += 1;
          return read(await own.evalSha(...given));
        },
        on: (...given) => own.on(...given),
        listenerCount: (...given) => own.listenerCount(...given),
      },
    });
    await opensLittle(store, () => {
      const since = { calls, bytes };
      [calls, bytes] = [0, 0];
      return since;
    });
    await store.close();
    own.destroy();
  });
});
