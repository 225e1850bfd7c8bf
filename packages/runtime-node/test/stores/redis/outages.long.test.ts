import { redisStore } from "../../../src/stores/redis/index.ts";
import { outageTests } from "../outages.ts";
import { withRedis } from "./server.ts";

withRedis("Redis that is away", (server) => {
  outageTests(async () => {
    const prefix = server.prefix();
    return { url: server.url, open: ({ url, clock, timeoutMs }) => redisStore({ url, prefix, clock, timeoutMs }) };
  });
});
