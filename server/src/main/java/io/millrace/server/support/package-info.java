/**
 * What all other packages of the module use.
 *
 * <p><b>What lives here.</b> {@link io.millrace.server.support.ServerSettings}, which the builders fill, with the {@link
 * io.millrace.server.support.BudgetDefaults} that depend on the machine; and {@link
 * io.millrace.server.support.ConnectionLog}, which logs what no handler takes care of. {@link
 * io.millrace.server.support.LimitAccess} creates exceptions of a public class whose constructors are not public.
 *
 * <p><b>Who may call it.</b> The other packages of the module; the package is not exported. <b>What it may call.</b> The
 * public types of {@code io.millrace.server}, and {@code engine}, {@code net} and {@code poll}.
 */
package io.millrace.server.support;
