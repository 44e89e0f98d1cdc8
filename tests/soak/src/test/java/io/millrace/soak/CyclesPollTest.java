package io.millrace.soak;

import org.junit.jupiter.api.DisplayName;

@DisplayName("mr-6, mr-7: cycles of open and close leave nothing behind on poll(2)")
class CyclesPollTest extends Cycles {
    CyclesPollTest() {
        super("poll");
    }
}
