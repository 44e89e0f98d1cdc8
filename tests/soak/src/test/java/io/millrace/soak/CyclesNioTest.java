package io.millrace.soak;

import org.junit.jupiter.api.DisplayName;

@DisplayName("mr-6, mr-7: cycles of open and close leave nothing behind on NIO")
class CyclesNioTest extends Cycles {
    CyclesNioTest() {
        super("nio");
    }
}
