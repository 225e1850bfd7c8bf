import "fake-indexeddb/auto";

import { indexedDbContract } from "./indexed-db-contract.ts";

indexedDbContract("indexedDbStore with Web Locks", navigator.locks);
