/**
 * Two pools, modelled on Mill-IO's. {@link io.millrace.engine.pool.ComputePool} runs tasks on its own threads, by
 * priority and age. {@link io.millrace.engine.pool.ObjectPool} lends objects and takes them back. Both can be used
 * without a loop.
 */
package io.millrace.engine.pool;
