export { type DueStreamOptions, openNatsDueStream } from './nats-due-stream.ts';
export { type BusOptions, openBus } from './open-bus.ts';
export { type NatsOptions, openNatsWire } from './nats-wire.ts';
export { openPostgresWire, type PostgresWireOptions } from './postgres-wire.ts';
