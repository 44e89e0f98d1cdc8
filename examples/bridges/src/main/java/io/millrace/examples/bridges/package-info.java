/** Programs of Vert.x, Spring WebFlux and Lettuce on Millrace's loops. Each is a main class that uses one bridge. */
package io.millrace.examples.bridges;
