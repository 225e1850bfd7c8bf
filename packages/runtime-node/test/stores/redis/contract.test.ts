import { storeContract } from "@colloquy/runtime-test/contracts";

import { redisStore } from "../../../src/stores/redis/index.ts";
import { withRedis } from "./server.ts";

withRedis("Redis", (server) => {
  storeContract("redisStore", async ({ clock }) => {
    const prefix = server.prefix();
    const open = () => redisStore({ url: server.url, prefix, clock });
    const store = open();
    return {
      store,
      reopen: async () => {
        await store.close();
        return open();
      },
      another: async () => open(),
    };
  });
});
