export { type ManualClock, manualClock } from "./manual-clock.ts";
export type { MakeStore, StoreCheck, StoreUnderTest, Subject } from "./store/subject.ts";
export { storeChecks, storeContract, subjectOf } from "./store-contract.ts";
