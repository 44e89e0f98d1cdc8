/**
 * Many futures or streams in one place, driven fairly. {@link io.millrace.task.FuturesUnordered},
 * {@link io.millrace.task.StreamsUnordered} and {@link io.millrace.task.IndexedStreamsUnordered} hold children that are polled when
 * their {@link io.millrace.task.Waker} was called, each at most once per cycle, and yield what they produce as it comes.
 *
 * <p>A child is a {@link io.millrace.task.Pollable} or a {@link io.millrace.task.PollableStream}; both have adapters from and to what the
 * JDK knows: stages, callables on virtual threads, iterators, {@code Flow} publishers. A set is itself a stream, so sets nest.
 *
 * <p>Where to begin reading: {@code Unordered} for the cycle, {@code WakeSet} for the two bit sets and why no wake-up is lost between
 * them, {@code Child} for the waker that outlives its child. {@link io.millrace.task.StreamSource} is the one bridge to
 * {@code io.millrace.poll}; nothing else here knows of it.
 *
 * <p>It has more types than other packages: one algorithm, and an adapter for each thing of the JDK that can be a child or a consumer.
 */
package io.millrace.task;
