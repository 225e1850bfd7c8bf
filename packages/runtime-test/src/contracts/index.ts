export { type ManualClock, manualClock } from "./manual-clock.ts";
export type { MakeStore, StoreCheck, StoreFeature, StoreUnderTest, Subject } from "./store/subject.ts";
export { storeChecks, storeContract, type StoreContractOptions, subjectOf } from "./store-contract.ts";
